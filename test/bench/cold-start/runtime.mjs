/**
 * Starts a function cold, as Lambda's runtime does: loads its bundle, then calls its handler. Plain JavaScript, since types
 * would have to be stripped, and what does that would be loaded beside. Answers on file descriptor 3.
 */
import { writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(import.meta.url);
// Lambda's runtime has it already: it asks for events over HTTP.
require('node:http');

const [, , bundle, event] = process.argv;
const start = performance.now();
const { handler } = bundle.endsWith('.mjs') ? await import(pathToFileURL(bundle).href) : require(bundle);
const loaded = performance.now();
const result = event && (await handler(JSON.parse(event), { getRemainingTimeInMillis: () => 10_000 }));
const answered = performance.now();
writeSync(3, JSON.stringify({ init: loaded - start, first: answered - start, result }));
process.exit();
