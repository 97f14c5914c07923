/** Sends a recorded request again, as its sender would: the service takes it as a new one. */
import { reportOf } from '../../../operator/local-stack/report.ts';
import { httpError } from '../../simulators/http.ts';
import type { Simulators } from '../../simulators/simulators.ts';
import type { Business } from '../business.ts';
import { eventsIn, isAppEvents } from './record/app-events.ts';
import { at, jsonIn, textAt } from './record/capture.ts';
import type { Call, TraceView } from './views.ts';

interface Senders {
  simulators: Simulators;
  businesses: ReadonlyMap<string, Business>;
  /** The body of an upload. */
  file: Buffer | undefined;
}

/**
 * @param call - the request of the trace, which can be sent again
 * @throws HTTPException — 502, the service or the simulator rejects it
 */
export const sendAgain = async (
  call: Call,
  view: TraceView,
  { simulators, businesses, file }: Senders,
): Promise<void> => {
  if (isAppEvents(call)) return reportAgain(call, simulators.app.phoneUrl);
  if (call.path.startsWith('/v1/webhook/')) return sendFromPlatform(call, view, simulators);
  const business = businesses.get(view.account ?? '');
  if (business === undefined) throw httpError(404, 'This business is not of the local stack.');
  await business.repeat({ ...call, body: file ?? call.body });
};

const reportAgain = async (call: Call, url: string): Promise<void> => {
  for (const { type, data } of eventsIn(call.body)) {
    const report = reportOf(type, Object(data));
    if (report !== undefined) await ask(report.method, url + report.path, report.body);
  }
};

/** The platform sends the text to the user again. */
const sendFromPlatform = async (call: Call, { person }: TraceView, { rapidpro, turn }: Simulators): Promise<void> => {
  const to = person?.phone;
  if (call.path.startsWith('/v1/webhook/rapidpro')) {
    const form = new URLSearchParams(call.body);
    const [channel] = Object.keys(rapidpro.channels);
    await post(`${rapidpro.url}/channels/${channel}/send`, {
      to,
      text: form.get('text'),
      quick_replies: form.getAll('quick_reply'),
    });
    return;
  }
  const body = jsonIn(call.body);
  const text = textAt(body, 'text', 'body') ?? textAt(body, 'turn', 'text', 'body') ?? at(body, 'content');
  const [number] = Object.keys(turn.channels);
  await post(`${turn.url}/numbers/${number}/send`, { to, text });
};

const post = (url: string, body: object): Promise<void> => ask('POST', url, body);

const ask = async (method: string, url: string, body?: object): Promise<void> => {
  const response = await fetch(url, { method, ...(body && { body: JSON.stringify(body) }) });
  if (!response.ok) throw httpError(502, `It was rejected with ${response.status}.`);
};
