/** Synthesises the stack in a process of its own, so that each synthesis reads the current sources; or copies the result. */
import { spawn } from 'node:child_process';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Bundling } from '../bundle/bundle.ts';
import { StartError } from './aws/start-error.ts';
import { copyKept, hashOfSources, keep } from './kept-assemblies.ts';
import { localSettings } from './local-settings.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Writes the stack's template and functions into `folder`.
 *
 * @param signal - ends the synthesis early
 * @param settings - settings of the stack that differ from the defaults
 * @throws StartError — the synthesis failed; the message contains its output
 */
export const synthesise = async (
  folder: string,
  bundling: Bundling,
  signal?: AbortSignal,
  settings: Record<string, number | boolean> = {},
): Promise<void> => {
  const context = JSON.stringify({ settings: localSettings(bundling, settings) });
  // Source maps name the sources relative to their folder.
  const hashNow = () => hashOfSources(root, [context, ...(bundling === 'mapped' ? [dirname(folder)] : [])]);
  const hash = await hashNow();
  if (await copyKept(hash, folder)) return;
  const child = spawn(process.execPath, ['infra/app.ts'], {
    cwd: root,
    env: { ...process.env, CDK_OUTDIR: folder, CDK_VALIDATION: 'false', CDK_CONTEXT_JSON: context },
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(signal && { signal }),
  });
  // The event `close` follows, and reports the failure.
  child.once('error', () => undefined);
  let printed = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  const status = await new Promise<number | null>((resolve) => child.once('close', resolve));
  if (status !== 0) throw new StartError(`The stack cannot be synthesised:\n${printed.trim()}`);
  // A source may have changed meanwhile.
  if ((await hashNow()) === hash) await keep(hash, folder);
};
