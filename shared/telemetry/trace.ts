/**
 * Traces: an id follows the work of a request through functions, outbox, queue and delivery. API Gateway creates the
 * id. Outbox entries and wake-ups contain it, and every log line has it as `trace_id`.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

const traces = new AsyncLocalStorage<string>();

/** Does work in the trace of this id. Default: the current trace. */
export const traced = <Result>(id: string | undefined, work: () => Result): Result =>
  id === undefined ? work() : traces.run(id, work);

/** Has the rest of this call be in the trace of this id. Cheaper than `traced`, for a caller that needs no end of it. */
export const beginTrace = (id: string): void => traces.enterWith(id);

/** The current trace's id. */
export const traceId = (): string | undefined => traces.getStore();
