/**
 * `npm run test:deploy`: deploys the stack with the CDK's command on MiniStack, an emulator of AWS that is independent of
 * ours, and plays a day of a customer there. Nothing leaves this machine, except that pip may fetch MiniStack.
 *
 * Exits with 1 if a step fails. Without Python it tests nothing: it prints that, and exits with 0, but with 1 in CI.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installPackages, pythonVersion, SetupError } from '../support/python.ts';
import { endAllNow } from './processes.ts';
import { say, step } from './steps.ts';

const REQUIREMENTS = join(import.meta.dirname, 'requirements.txt');

const folder = mkdtempSync(join(tmpdir(), 'rehearsal-'));

process.once('exit', () => {
  endAllNow();
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));

const main = async (): Promise<number> => {
  const start = Date.now();
  try {
    const version = await pythonVersion();
    if (version === undefined) {
      if (process.env.CI) {
        throw new SetupError(
          'There is no python3 on the PATH: install Python 3.11 or newer. On Debian and Ubuntu, also install the package python3-venv.',
        );
      }
      say('Nothing was tested, because there is no python3 on the PATH.');
      return 0;
    }
    const python = await step('MiniStack is installed', () => installPackages(version, 'ministack', REQUIREMENTS));
    const { rehearse } = await import('./rehearsal.ts');
    await rehearse(python, folder);
    say(`The deployment works, in ${Math.round((Date.now() - start) / 1_000)} s.`);
    return 0;
  } catch (error) {
    const isExpected = error instanceof SetupError || !(error instanceof Error);
    process.stderr.write(`${isExpected ? error : error.stack}\n`);
    return 1;
  }
};

process.exitCode = await main();
