/** Calls of the table with the client of our functions, bundled as they are: the least that a function with these calls takes. */
import { documents } from '../../../shared/table/client.ts';
import { makeCalls, type TableCall } from './calls.ts';

export const handler = (rounds: TableCall[][]) => makeCalls(documents, rounds);
