/**
 * Runs before each file of stack tests: gives it the stack that this process serves, the same one to all. It is at work
 * between two files too, with the sources and the environment that it has: nothing is loaded anew here.
 */
import { inject } from 'vitest';
import { callTableOf } from '../../infra/local/call-table.ts';
import type { ServedHere } from './stack-here.ts';

const kept = globalThis as { servedHere?: Promise<ServedHere> };
const given = inject('stack');

kept.servedHere ??= import('./stack-here.ts').then(({ serveHere }) => serveHere(given));
const { stack, environment } = await kept.servedHere;
Object.assign(given, stack);
callTableOf({ dynamodbEndpoint: stack.dynamodb_endpoint, table: stack.table });
Object.assign(process.env, environment);
