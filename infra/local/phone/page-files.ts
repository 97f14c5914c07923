/** Builds the page's files from its sources, in memory. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

export interface PageFiles {
  html: string;
  script: string;
  style: string;
}

const source = (name: string): string => fileURLToPath(new URL(`page/${name}`, import.meta.url));

/** Takes about 0.2 seconds. */
export const makePage = async (): Promise<PageFiles> => {
  const [html, { outputFiles }] = await Promise.all([
    readFile(source('index.html'), 'utf8'),
    build({
      entryPoints: [source('main.tsx'), source('style.css')],
      outdir: '/',
      write: false,
      bundle: true,
      minify: true,
      format: 'esm',
      target: 'es2023',
      jsx: 'automatic',
      jsxImportSource: 'preact',
      logLevel: 'warning',
    }),
  ]);
  const made = (end: string): string => outputFiles.find(({ path }) => path.endsWith(end))?.text ?? '';
  return { html, script: made('.js'), style: made('.css') };
};
