/** Views of the service's work: deliveries to phones, and calls of and messages from chat platforms. */
import type { AppNetwork } from '../simulators/app-network/app-network.ts';
import type { Call } from '../simulators/app-network/inbox.ts';
import type { Outcome } from '../simulators/calls.ts';
import type { Simulators } from '../simulators/simulators.ts';
import type { DeliveryView, PlatformView } from './views.ts';

/** Maximum number of entries in a list. */
export const MOST = 200;

/** The last deliveries, newest first, each with its attempts. */
export const deliveriesOf = ({ inbox }: Pick<AppNetwork, 'inbox'>): DeliveryView[] => {
  const byId = Map.groupBy(inbox.calls, ({ webhook_id }) => webhook_id);
  return [...byId]
    .slice(-MOST)
    .reverse()
    .map(([id, calls]) => ({ id, ...about(calls), attempts: calls.map(attempt) }));
};

const about = ([call]: Call[]): Pick<DeliveryView, 'phone' | 'what'> => ({
  phone: call?.phone ?? null,
  what: call?.type ?? 'no event',
});

const attempt = ({ time, status }: Call): DeliveryView['attempts'][number] => ({ time, ...outcomeOf(status) });

/** An outcome as text, and whether the call was accepted. */
const outcomeOf = (status: Outcome): { outcome: string; taken: boolean } => ({
  outcome: status === null ? 'waiting' : String(status),
  taken: typeof status === 'number' && status < 300,
});

/** Every channel of the chat platforms, with its calls and messages. */
export const platformsOf = ({ rapidpro, turn }: Pick<Simulators, 'rapidpro' | 'turn'>): PlatformView[] => [
  ...Object.entries(rapidpro.channels).map(([line, { calls, sent }]) => ({
    platform: 'RapidPro',
    line,
    got: newest(calls).map((call) => ({ ...callView(call), text: formText(call.body) })),
    sent: newest(sent).map(({ to, text, status }) => ({ to, text, status })),
  })),
  ...Object.entries(turn.channels).map(([line, { calls, sent }]) => ({
    platform: 'Turn',
    line,
    got: newest(calls).map((call) => ({ ...callView(call), text: jsonText(call.body) })),
    sent: newest(sent).map(({ to, body, status }) => ({ to, text: textIn(body), status })),
  })),
];

interface PlatformCall {
  address: string;
  status: Outcome;
  time: string;
}

const callView = ({ address, status, time }: PlatformCall) => ({ what: address, time, ...outcomeOf(status) });

const newest = <Entry>(entries: readonly Entry[]): Entry[] => entries.slice(-MOST).reverse();

/** The text of a call to RapidPro, or the message's id. */
const formText = (body: string): string => {
  const form = new URLSearchParams(body);
  return form.get('text') ?? form.get('id') ?? '';
};

/** The text of a call to Turn, or the reported status. */
const jsonText = (body: string): string => {
  try {
    return textIn(JSON.parse(body));
  } catch {
    return '';
  }
};

/** The text or status in a body of Turn: the first of the fields that may contain it. */
const textIn = (body: unknown): string => {
  const places = [
    ['message', 'text', 'body'],
    ['turn', 'text', 'body'],
    ['text', 'body'],
    ['status', 'status'],
    ['content'],
  ];
  const found = places.map((place) => place.reduce(fieldOf, body)).find((value) => typeof value === 'string' && value);
  return typeof found === 'string' ? found : '';
};

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Object.entries(value).find(([key]) => key === name)?.[1] : undefined;
