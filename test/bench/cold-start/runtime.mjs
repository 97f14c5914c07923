/**
 * Starts a function cold, like Lambda's runtime: loads its bundle, then calls its handler. Plain JavaScript, because
 * type stripping would load additional modules. Writes the result to file descriptor 3.
 */
import { writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(import.meta.url);
// Lambda's runtime has already loaded this module, because it receives events over HTTP.
require('node:http');

const [, , bundle, event] = process.argv;
const start = performance.now();
const { handler } = bundle.endsWith('.mjs') ? await import(pathToFileURL(bundle).href) : require(bundle);
const loaded = performance.now();
const result = event && (await handler(JSON.parse(event), { getRemainingTimeInMillis: () => 10_000 }));
const answered = performance.now();
writeSync(3, JSON.stringify({ init: loaded - start, first: answered - start, result }));
process.exit();
