/** Types for the used parts of Eleventy, which has none. */
declare module '@11ty/eleventy' {
  interface Configuration {
    setLibrary(extension: 'md', library: { render(markdown: string): string }): void;
    addTemplate(path: string, content: string, data: Record<string, unknown>): void;
    addGlobalData(name: string, value: unknown): void;
    setUseGitIgnore(isUsed: boolean): void;
  }
  interface Options {
    quietMode: boolean;
    configPath: null;
    /** Configures a build, and returns its directories and engines. */
    config(configuration: Configuration): object;
  }
  export default class Eleventy {
    constructor(input: string, output: string, options: Options);
    /** The pages, without writing them. */
    toJSON(): Promise<{ url: string; content: string }[]>;
  }
}
