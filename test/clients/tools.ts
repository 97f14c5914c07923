/**
 * The generators of clients and what their clients need, each in one version. They are fetched when they are first used,
 * into `.local/clients`, because `npm ci` should not grow by them.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { localFolder } from '../../infra/operator/local-stack/stack-file.ts';
import { run } from '../deploy/processes.ts';
import { installPackages, pythonVersion, SetupError } from '../support/python.ts';

const OPENAPI_GENERATOR = '7.25.0';
const OAPI_CODEGEN = '2.8.2';
const MAVEN_PLUGIN = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.0';

const here = import.meta.dirname;
const tools = join(localFolder, 'clients');

/**
 * Runs a program to its end, and returns what it printed to standard output.
 *
 * @throws Error — the program failed
 */
export const succeed = async (
  command: string,
  args: string[],
  options?: { cwd?: string; env?: Record<string, string> },
): Promise<string> => (await outputOf(command, args, options)).stdout;

/**
 * Runs a program to its end, and returns what it printed: to standard output, and in all.
 *
 * @throws Error — the program failed
 */
export const outputOf = async (
  command: string,
  args: string[],
  { cwd = tools, env = {} }: { cwd?: string; env?: Record<string, string> } = {},
): Promise<{ stdout: string; output: string }> => {
  await mkdir(cwd, { recursive: true });
  // Go's compiler and linker are short programs: without garbage collection, they take a tenth less processor time.
  const ended = await run(command, args, { cwd, env: { GOGC: 'off', ...process.env, ...env } });
  if (ended.status !== 0) {
    throw new Error(`${[command, ...args].join(' ')} ended with ${ended.status}:\n${ended.output.slice(-8_000)}`);
  }
  return ended;
};

/** Whether a program is on the PATH, and works. */
export const works = async (command: string, ...args: string[]): Promise<boolean> =>
  (await run(command, args, { env: process.env })).status === 0;

/** Fills a folder once. It appears with all its contents: other processes may do the same at the same time. */
const fetchOnce = async (folder: string, fetchInto: (folder: string) => Promise<unknown>): Promise<string> => {
  const full = join(folder, 'full');
  if (existsSync(full)) return full;
  await mkdir(folder, { recursive: true });
  const own = await mkdtemp(join(folder, 'own-'));
  try {
    await fetchInto(own);
    await rename(own, full);
  } catch (error) {
    if (!existsSync(full)) throw error;
  } finally {
    await rm(own, { recursive: true, force: true });
  }
  return full;
};

/** Java's optimising compiler and parallel collector cost more than they save in programs of a few seconds. */
export const JAVA_OPTIONS = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'];

/** The jar of openapi-generator, from Maven Central. */
export const openapiGenerator = async (): Promise<string> => {
  const folder = await fetchOnce(join(tools, `openapi-generator-${OPENAPI_GENERATOR}`), (into) =>
    succeed('mvn', [
      ...['-q', '-B', `${MAVEN_PLUGIN}:copy`, `-DoutputDirectory=${into}`],
      `-Dartifact=org.openapitools:openapi-generator-cli:${OPENAPI_GENERATOR}`,
    ]),
  );
  return join(folder, `openapi-generator-cli-${OPENAPI_GENERATOR}.jar`);
};

/** The class path of a generated client in Java: the libraries that its `pom.xml` names. */
export const javaLibraries = async (client: string): Promise<string> => {
  const folder = await fetchOnce(join(tools, `java-libraries-${OPENAPI_GENERATOR}`), (into) =>
    succeed(
      'mvn',
      ['-q', '-B', `${MAVEN_PLUGIN}:copy-dependencies`, '-DincludeScope=compile', `-DoutputDirectory=${into}`],
      { cwd: client },
    ),
  );
  return join(folder, '*');
};

/** The program oapi-codegen, built by Go. */
export const oapiCodegen = async (): Promise<string> => {
  const folder = await fetchOnce(join(tools, `oapi-codegen-${OAPI_CODEGEN}`), (into) =>
    succeed('go', ['install', `github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v${OAPI_CODEGEN}`], {
      env: { GOBIN: into },
    }),
  );
  return join(folder, 'oapi-codegen');
};

/** The Python that has openapi-python-client, and what its clients need. */
export const pythonClient = async (): Promise<string> => {
  const version = await pythonVersion();
  if (version === undefined) throw new SetupError('There is no python3 on the PATH.');
  return await installPackages(version, 'openapi-python-client', join(here, 'requirements.txt'));
};

/** The folder with the packages of `npm/package.json`. Programs in folders below it find these packages. */
export const npmTools = async (): Promise<string> => {
  const lock = await readFile(join(here, 'npm', 'package-lock.json'));
  const hash = createHash('sha256').update(lock).digest('hex').slice(0, 12);
  return await fetchOnce(join(tools, `npm-${hash}`), async (into) => {
    for (const file of ['package.json', 'package-lock.json']) await copyFile(join(here, 'npm', file), join(into, file));
    await succeed('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: into });
  });
};

/** Runs a program of the packages of `npm/package.json`. */
export const npmProgram = async (name: string, args: string[], cwd: string): Promise<string> => {
  const bin = join(await npmTools(), 'node_modules', '.bin');
  return await succeed(join(bin, name), args, { cwd, env: { PATH: [bin, process.env.PATH].join(delimiter) } });
};
