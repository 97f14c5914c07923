/** The clients: how each is generated, compiled and run. */
import { copyFile, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  JAVA_OPTIONS,
  javaLibraries,
  npmProgram,
  npmTools,
  oapiCodegen,
  openapiGenerator,
  pythonClient,
  succeed,
  works,
} from './tools.ts';

/** The settings of a customer's program, in its environment. */
export interface Settings extends Record<string, string> {
  BASE_URL: string;
  TOKEN: string;
  PANELIST: string;
  /** The path of a picture. */
  PICTURE: string;
}

export interface Client {
  name: string;
  /** What must be installed, in words. */
  needs: string;
  isPossible: () => Promise<boolean>;
  /**
   * Generates and compiles the client in a new folder. Returns a function that runs the customer's program with it, and
   * returns what the program printed.
   *
   * @param description - the path of the API description
   */
  build: (description: string, folder: string) => Promise<(settings: Settings) => Promise<string>>;
}

const programs = join(import.meta.dirname, 'programs');
const goFolder = join(import.meta.dirname, 'go');

const hasJava = async (): Promise<boolean> => (await works('javac', '-version')) && (await works('mvn', '-v'));

/** All but calls of webhooks, which typescript-fetch writes with imports without a name. */
const PARTS = ['--global-property', 'apis,models,supportingFiles'];

const generate = async (generator: string, description: string, output: string): Promise<void> => {
  const jar = await openapiGenerator();
  const options = ['-g', generator, '-i', description, '-o', output, ...PARTS];
  await succeed('java', [...JAVA_OPTIONS, '-jar', jar, 'generate', ...options]);
};

/** Compiles a folder of TypeScript with the usual settings of customers. */
const compile = async (folder: string): Promise<void> => {
  const compilerOptions = {
    ...{ strict: true, skipLibCheck: true, outDir: 'out', types: ['node'] },
    ...{ target: 'es2022', module: 'commonjs', moduleResolution: 'node10', esModuleInterop: true },
  };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['**/*.ts'] }));
  await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'commonjs' }));
  await npmProgram('tsc', ['-p', '.'], folder);
};

const runNode = (folder: string) => (env: Settings) =>
  succeed(process.execPath, ['out/program.js'], { cwd: folder, env });

/** All sources below a folder. */
const sourcesIn = async (folder: string): Promise<string[]> =>
  (await readdir(folder, { recursive: true }))
    .filter((path) => path.endsWith('.java'))
    .map((path) => join(folder, path));

/**
 * A folder of TypeScript that finds the packages of `npm/package.json`.
 *
 * @param folder - the path, whose last part is the name of the folder
 */
const besidePackages = async (name: string): Promise<string> => {
  const folder = join(await npmTools(), `client-${name}-${process.pid}`);
  await mkdir(folder, { recursive: true });
  return folder;
};

export const clients: readonly Client[] = [
  {
    name: 'openapi-typescript',
    needs: 'npm',
    isPossible: () => works('npm', '--version'),
    build: async (description) => {
      const folder = await besidePackages('openapi-typescript');
      await npmProgram('openapi-typescript', [description, '--output', 'types.ts'], folder);
      await copyFile(join(programs, 'openapi-typescript.txt'), join(folder, 'program.ts'));
      await compile(folder);
      return runNode(folder);
    },
  },
  {
    name: 'openapi-generator (typescript-fetch)',
    needs: 'npm, Java and Maven',
    isPossible: async () => (await works('npm', '--version')) && (await hasJava()),
    build: async (description) => {
      const folder = await besidePackages('typescript-fetch');
      await generate('typescript-fetch', description, join(folder, 'client'));
      await copyFile(join(programs, 'typescript-fetch.txt'), join(folder, 'program.ts'));
      await compile(folder);
      return runNode(folder);
    },
  },
  {
    name: 'openapi-generator (java)',
    needs: 'a JDK and Maven',
    isPossible: hasJava,
    build: async (description, folder) => {
      await generate('java', description, folder);
      const libraries = await javaLibraries(folder);
      const sources = [...(await sourcesIn(join(folder, 'src', 'main', 'java'))), join(programs, 'Program.java')];
      const options = ['-nowarn', '-proc:none', '-d', 'classes', '-cp', libraries];
      await succeed('javac', [...JAVA_OPTIONS.map((option) => `-J${option}`), ...options, ...sources], { cwd: folder });
      return (env) =>
        succeed('java', [...JAVA_OPTIONS, '-cp', `classes:${libraries}`, 'Program'], { cwd: folder, env });
    },
  },
  {
    name: 'oapi-codegen (Go)',
    needs: 'Go',
    isPossible: () => works('go', 'version'),
    build: async (description, folder) => {
      await mkdir(join(folder, 'api'), { recursive: true });
      for (const file of await readdir(goFolder)) await copyFile(join(goFolder, file), join(folder, file));
      await succeed(await oapiCodegen(), ['-config', 'oapi-codegen.yaml', description], { cwd: folder });
      await succeed('go', ['build', '-o', 'customer', '.'], { cwd: folder });
      return (env) => succeed(join(folder, 'customer'), [], { cwd: folder, env });
    },
  },
  {
    name: 'openapi-python-client',
    needs: 'Python with pip',
    isPossible: () => works('python3', '-c', 'import ensurepip'),
    build: async (description, folder) => {
      const python = await pythonClient();
      const options = ['generate', '--path', description, '--output-path', 'client', '--meta', 'none'];
      const module = ['-c', 'from openapi_python_client.cli import app; app()'];
      await succeed(python, [...module, ...options], { cwd: folder });
      await succeed(python, ['-m', 'compileall', '-q', 'client'], { cwd: folder });
      return (env) =>
        succeed(python, [join(programs, 'program.py')], { cwd: folder, env: { ...env, PYTHONPATH: folder } });
    },
  },
];
