/**
 * Starts a function cold, like Lambda's runtime: loads its bundle, then calls its handler. Plain JavaScript, because
 * type stripping would load additional modules. Between the two, it writes a line to file descriptor 3 and waits for a byte
 * on stdin, so that the parent can limit the processor. Writes the results to file descriptor 3.
 */
import { readSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(import.meta.url);
// Lambda's runtime has already loaded this module, because it receives events over HTTP.
require('node:http');

const [, , bundle, event, warm] = process.argv;

/** Milliseconds: elapsed, and of processor time. */
const clocks = () => {
  const { user, system } = process.cpuUsage();
  return { elapsed: performance.now(), processor: (user + system) / 1_000 };
};
const between = (start, end) => ({ elapsed: end.elapsed - start.elapsed, processor: end.processor - start.processor });

const start = clocks();
const { handler } = bundle.endsWith('.mjs') ? await import(pathToFileURL(bundle).href) : require(bundle);
const loaded = clocks();
writeSync(3, `${JSON.stringify({ init: between(start, loaded) })}\n`);
if (event) {
  readSync(0, Buffer.alloc(1));
  const call = () => handler(JSON.parse(event), { awsRequestId: 'cold', getRemainingTimeInMillis: () => 60_000 });
  const begun = clocks();
  const result = await call();
  const answered = clocks();
  for (let more = Number(warm); more > 0; more -= 1) await call();
  const warmCalls = between(answered, clocks());
  writeSync(3, `${JSON.stringify({ call: between(begun, answered), warm: warmCalls, result })}\n`);
}
process.exit();
