/** Packages from PyPI, in virtual environments below `.local`. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { localFolder } from '../../infra/operator/local-stack/stack-file.ts';
import { type Ended, run } from '../deploy/processes.ts';

/** The oldest Python for which the lists of packages are complete. */
const OLDEST = [3, 11] as const;

/** Something that a test needs is missing. The message says what, and what to do. */
export class SetupError extends Error {
  override readonly name = 'SetupError';
}

/** Major and minor version of Python. */
type Version = [major: number, minor: number];

// pip may be configured by the environment, or in the home folder.
const { env } = process;

/** The version of the program `python3`; undefined if there is none. */
export const pythonVersion = async (): Promise<Version | undefined> => {
  const { status, stdout } = await run('python3', ['-c', 'import sys; print(*sys.version_info[:2])'], { env });
  const [major, minor] = stdout.trim().split(' ').map(Number);
  return status === 0 && major !== undefined && minor !== undefined ? [major, minor] : undefined;
};

/**
 * Installs packages unless an earlier run has done so. Returns the Python of their environment.
 *
 * @param name - the name of the environment
 * @param list - a file with the packages, their versions, and the hashes of their files
 * @throws SetupError — Python is too old, or the installation failed
 */
export const installPackages = async (version: Version, name: string, list: string): Promise<string> => {
  const [major, minor] = version;
  if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
    throw new SetupError(`python3 is version ${version.join('.')}: install Python ${OLDEST.join('.')} or newer.`);
  }
  const requirements = await readFile(list);
  const hash = createHash('sha256').update(requirements).update(version.join('.')).digest('hex').slice(0, 12);
  const folder = join(localFolder, `${name}-${hash}`);
  const python = join(folder, 'bin', 'python');
  const finished = join(folder, 'finished');
  if (existsSync(finished)) return python;

  await rm(folder, { recursive: true, force: true });
  await mkdir(localFolder, { recursive: true });
  expectSuccess(
    await run('python3', ['-m', 'venv', folder], { env }),
    'python3 cannot create a virtual environment. On Debian and Ubuntu, install the package python3-venv.',
  );
  expectSuccess(
    await run(
      python,
      ['-m', 'pip', 'install', '--quiet', '--require-hashes', '--only-binary', ':all:', '--requirement', list],
      { env },
    ),
    `pip cannot install ${name}. It needs PyPI, or an index that the configuration of pip names.`,
  );
  await writeFile(finished, '');
  return python;
};

const expectSuccess = ({ status, output }: Ended, otherwise: string): void => {
  if (status !== 0) throw new SetupError(`${otherwise}\n${output.trim()}`);
};
