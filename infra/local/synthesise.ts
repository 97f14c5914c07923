/** Synthesises the stack in a process of its own, so that each synthesis reads the current sources. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Bundling } from '../bundle/bundle.ts';
import { StartError } from './aws/start-error.ts';
import { hashOfSources, keep, ownPath, release, useKept } from './kept-assemblies.ts';
import { localSettings } from './local-settings.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

let count = 0;

/**
 * Returns the folder of the stack's template and functions: of this synthesis, or of an earlier one with the same sources. It
 * is there until this process ends or releases it, and must not be changed.
 *
 * @param settings - settings of the stack that differ from the defaults
 * @param signal - ends the synthesis early
 * @throws StartError — the synthesis failed; the message contains its output
 */
export const synthesise = async (
  bundling: Bundling,
  settings: Record<string, number | boolean> = {},
  signal?: AbortSignal,
): Promise<string> => {
  const context = JSON.stringify({
    settings: localSettings(bundling, settings),
    // The stack runs the bundles where they were made.
    'aws:cdk:disable-asset-staging': true,
  });
  const hashNow = () => hashOfSources(root, [context]);
  const hash = hashNow();
  const kept = useKept(hash);
  if (kept !== undefined) return kept;
  count += 1;
  const folder = ownPath(`new-${count}`);
  try {
    await runApp(folder, context, signal);
  } catch (error) {
    release(folder);
    throw error;
  }
  // If a source has changed meanwhile, only this process uses it.
  return hashNow() === hash ? keep(hash, folder) : folder;
};

const runApp = async (folder: string, context: string, signal: AbortSignal | undefined): Promise<void> => {
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
};
