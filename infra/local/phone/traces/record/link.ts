/** Finds the trace that a call to a destination belongs to, by what the call contains. */

import type { Call } from '../views.ts';
import { eventsIn, isAppEvents } from './app-events.ts';
import { jsonIn, textAt } from './capture.ts';
import type { Trace, TraceStore } from './store.ts';

export const traceOf = (call: Call, store: TraceStore): Trace | undefined => {
  switch (call.server) {
    case 'app':
      return store.find(textAt(jsonIn(call.body), 'data', 'id') ?? '');
    case 'turn': {
      const body = jsonIn(call.body);
      return store.find(textAt(body, 'message', 'id') ?? textAt(body, 'status', 'id') ?? '');
    }
    case 'rapidpro':
      return ofRapidpro(new URLSearchParams(call.body), store);
    case 'service':
      return undefined;
  }
};

const ofRapidpro = (form: URLSearchParams, store: TraceStore): Trace | undefined => {
  const id = form.get('id');
  if (id !== null) return store.find(`rapidpro ${id}`);
  const from = form.get('from')?.replace('+', '') ?? '';
  const text = form.get('text');
  // RapidPro's request has no id. Messages of a user are delivered in order: the oldest one with this text is meant.
  const found = store.traces.filter((trace) => (text === null ? hasStopped(trace, from) : wrote(trace, from, text)));
  return found.findLast((trace) => !trace.lines.some(({ message }) => message === 'delivered')) ?? found[0];
};

const eventsOf = ({ call }: Trace) => (call !== undefined && isAppEvents(call) ? eventsIn(call.body) : []);

const wrote = (trace: Trace, from: string, text: string): boolean =>
  eventsOf(trace).some(
    ({ type, data }) =>
      type === 'message.received' && textAt(data, 'from') === from && textAt(data, 'text', 'body') === text,
  );

const hasStopped = (trace: Trace, from: string): boolean =>
  eventsOf(trace).some(
    ({ type, data }) =>
      (type === 'user.stopped' && textAt(data, 'from') === from) ||
      (type === 'user.removed' && textAt(data, 'phone_number') === from),
  );
