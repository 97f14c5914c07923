/** The clients: how each is generated, compiled and run. */
import { copyFile, cp, mkdir, readdir, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import {
  JAVA_OPTIONS,
  javaLibraries,
  npmProgram,
  npmTools,
  oapiCodegen,
  openapiGenerator,
  outputOf,
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

/** The programs of each client: a business that uses most of the API, and the one of the guide, which lists jobs. */
type Program = 'customer' | 'jobs';

export interface Client {
  name: string;
  /** What must be installed, in words. */
  needs: string;
  isPossible: () => Promise<boolean>;
  /**
   * Generates and compiles the client in a new folder. Returns a function that runs a program with it, and returns what
   * the program printed.
   *
   * @param description - the path of the API description
   * @throws Error — the generator prints a warning
   */
  build: (description: string, folder: string) => Promise<(program: Program, settings: Settings) => Promise<string>>;
}

const programs = join(import.meta.dirname, 'programs');
const goFolder = join(import.meta.dirname, 'go');

const hasJava = async (): Promise<boolean> => (await works('javac', '-version')) && (await works('mvn', '-v'));

/** All but calls of webhooks, which typescript-fetch writes with imports without a name. */
const PARTS = ['--global-property', 'apis,models,supportingFiles'];

/** What openapi-generator prints for any description with these parts. Nothing is missing in its clients. */
const HARMLESS = [
  // The version of the description, which is 3.1.
  'OpenAPI 3.1 support is still in beta',
  // Named examples of a response.
  'Failed to get the schema name: null',
  // Examples of a request's body, which it does not copy into its documentation.
  'Ignoring complex example on request body',
  // A list in a form: the quick replies of RapidPro.
  'Could not compute datatypeWithEnum',
];

/** Runs a generator. */
const generateWith = async (
  command: string,
  args: string[],
  options?: { cwd?: string; env?: Record<string, string> },
): Promise<void> => {
  const { output } = await outputOf(command, args, options);
  const warnings = output
    .split('\n')
    .filter((line) => /\bwarn(ing)?\b|⚠/i.test(line) && !HARMLESS.some((known) => line.includes(known)));
  if (warnings.length > 0) throw new Error(`The generator warns:\n${warnings.join('\n')}\n${output.slice(-4_000)}`);
};

const generate = async (generator: string, description: string, output: string): Promise<void> => {
  const jar = await openapiGenerator();
  const options = ['-g', generator, '-i', description, '-o', output, ...PARTS];
  await generateWith('java', [...JAVA_OPTIONS, '-jar', jar, 'generate', ...options]);
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

const runNode = (folder: string) => (program: Program, env: Settings) =>
  succeed(process.execPath, [`out/${program}.js`], { cwd: folder, env });

const copyPrograms = async (client: string, folder: string): Promise<void> => {
  await copyFile(join(programs, `${client}.txt`), join(folder, 'customer.ts'));
  await copyFile(join(programs, `${client}-jobs.txt`), join(folder, 'jobs.ts'));
};

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
      await generateWith(
        join(await npmTools(), 'node_modules', '.bin', 'openapi-typescript'),
        [description, '--output', 'types.ts'],
        { cwd: folder },
      );
      await copyPrograms('openapi-typescript', folder);
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
      await copyPrograms('typescript-fetch', folder);
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
      const sources = [...(await sourcesIn(join(folder, 'src', 'main', 'java'))), ...(await sourcesIn(programs))];
      const options = ['-nowarn', '-proc:none', '-d', 'classes', '-cp', libraries];
      await succeed('javac', [...JAVA_OPTIONS.map((option) => `-J${option}`), ...options, ...sources], { cwd: folder });
      const classes = { customer: 'Program', jobs: 'Jobs' };
      return (program, env) =>
        succeed('java', [...JAVA_OPTIONS, '-cp', `classes:${libraries}`, classes[program]], { cwd: folder, env });
    },
  },
  {
    name: 'oapi-codegen (Go)',
    needs: 'Go',
    isPossible: () => works('go', 'version'),
    build: async (description, folder) => {
      await mkdir(join(folder, 'api'), { recursive: true });
      await cp(goFolder, folder, { recursive: true });
      await generateWith(await oapiCodegen(), ['-config', 'oapi-codegen.yaml', description], { cwd: folder });
      await succeed('go', ['build', '-o', 'programs/customer', '.'], { cwd: folder });
      await succeed('go', ['build', '-o', 'programs/jobs', './jobs'], { cwd: folder });
      return (program, env) => succeed(join(folder, 'programs', program), [], { cwd: folder, env });
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
      // It formats its code with ruff, which is beside it.
      const PATH = [dirname(python), process.env.PATH].join(delimiter);
      await generateWith(python, [...module, ...options], { cwd: folder, env: { PATH } });
      await succeed(python, ['-m', 'compileall', '-q', 'client'], { cwd: folder });
      const files = { customer: 'program.py', jobs: 'jobs.py' };
      return (program, env) =>
        succeed(python, [join(programs, files[program])], { cwd: folder, env: { ...env, PYTHONPATH: folder } });
    },
  },
];
