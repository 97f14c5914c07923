/**
 * Runs before each file of stack tests, and provides the stack that this process serves to all files. The stack also
 * works between files, so modules and environment are not reset.
 */
import { inject } from 'vitest';
import { callTableOf } from '../../infra/operator/local-stack/call-table.ts';
import type { ServedHere } from './stack-here.ts';

const kept = globalThis as { servedHere?: Promise<ServedHere> };
const given = inject('stack');

kept.servedHere ??= import('./stack-here.ts').then(({ serveHere }) => serveHere(given));
const { stack, environment } = await kept.servedHere;
Object.assign(given, stack);
callTableOf({ dynamodbEndpoint: stack.dynamodb_endpoint, table: stack.table });
Object.assign(process.env, environment);
