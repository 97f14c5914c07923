/**
 * Serves a version of this repository, as a process of its own: the argument is its folder. Sends the URLs and the token of the
 * demo account to the parent process, and ends with it.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { openWhole } from './whole.ts';

/** What the parent process receives. */
export interface Version {
  baseUrl: string;
  phoneUrl: string;
  token: string;
}

const [folder = ''] = process.argv.slice(2);
const urlOf = (path: string): string => pathToFileURL(join(folder, path)).href;

await import(urlOf('infra/local/runtime/use-local-runtime.ts'));
const whole: { openWhole: typeof openWhole } = await import(urlOf('test/bench/whole.ts'));
const { stack, simulators, demo, close } = await whole.openWhole(process.env.DYNAMODB_ENDPOINT || undefined);
process.once('disconnect', () => void close().then(() => process.exit()));
process.send?.({ baseUrl: stack.baseUrl, phoneUrl: simulators.app.phoneUrl, token: demo.token } satisfies Version);
