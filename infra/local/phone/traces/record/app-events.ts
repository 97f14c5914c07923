/** The events of the app network in requests to the service, and the user that a request names. */
import type { Call } from '../views.ts';
import { at, jsonIn, textAt } from './capture.ts';

export interface AppEventRecord {
  id: string | undefined;
  type: string;
  data: unknown;
}

/** The events of the app network in a body. */
export const eventsIn = (body: string): AppEventRecord[] =>
  [jsonIn(body) ?? []].flat().flatMap((event) => {
    const type = textAt(event, 'type');
    return type === undefined ? [] : [{ id: textAt(event, 'id'), type, data: at(event, 'data') }];
  });

/** The path on which the app network reports events. */
export const isAppEvents = ({ server, path }: Call): boolean => server === 'service' && path === '/v1/app/events';

/** The phone number that a request names; null if it names none, or several. */
export const phoneIn = (call: Call, event: AppEventRecord | undefined): string | null => {
  const body = jsonIn(call.body);
  const form = call.path.startsWith('/v1/webhook/rapidpro') ? new URLSearchParams(call.body) : undefined;
  const found = [
    textAt(event?.data, 'from'),
    textAt(event?.data, 'phone_number'),
    event === undefined ? textAt(body, 'to') : undefined,
    textAt(body, 'phone_number'),
    textAt(body, 'number'),
    form?.get('to_no_plus') ?? form?.get('to'),
    /^\/v1\/user_data\/(?:start|fetch)\/([1-9]\d{6,14})$/.exec(call.path)?.[1],
    /^\/v1\/users\/([1-9]\d{6,14})$/.exec(call.path)?.[1],
  ].find(isPhone);
  return found?.replace('+', '') ?? null;
};

export const isPhone = (value: unknown): value is string =>
  typeof value === 'string' && /^\+?[1-9]\d{6,14}$/.test(value);
