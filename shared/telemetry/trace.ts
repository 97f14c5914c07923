/**
 * The id by which what a request set off is followed: through functions, outbox, queue and delivery. API Gateway gives it
 * to the request; an entry of an outbox and a wake-up carry it on; every log line holds it as `trace_id`.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

const traces = new AsyncLocalStorage<string>();

/** Does work in the trace of this id; in the current one, if there is none given. */
export const traced = <Result>(id: string | undefined, work: () => Result): Result =>
  id === undefined ? work() : traces.run(id, work);

/** The current trace's id. */
export const traceId = (): string | undefined => traces.getStore();
