/** Expensive bodies of nearly 6 MB, the limit of Lambda. */

import type { Endpoint } from '../../../shared/api/endpoint.ts';
import { type Api, api, type EndpointName } from '../../../shared/api/index.ts';

/** The size of a body in bytes. The event contains more than the body. */
const SIZE = 5_800_000;

/** Repeats a text until it fills a body. */
const filling = (text: string, open = '[', close = ']'): string =>
  `${open}${`${text},`.repeat(SIZE / (text.length + 1))}${text}${close}`;

const nested = (open: string, close: string): string => {
  const depth = SIZE / (open.length + close.length);
  return `${open.repeat(depth)}1${close.repeat(depth)}`;
};

/** JSON values by kind. */
const values = {
  'one text': () => `"${'a'.repeat(SIZE)}"`,
  'one text of quotation marks': () => `"${'\\"'.repeat(SIZE / 2)}"`,
  'one text of escapes': () => `"${'\\u0041'.repeat(SIZE / 6)}"`,
  'one text of emoji': () => `"${'😀'.repeat(SIZE / 4)}"`,
  'one text of spaces': () => `"${' '.repeat(SIZE)}"`,
  'one number': () => '9'.repeat(SIZE),
  'a list of numbers': () => filling('0'),
  'a list of decimals': () => filling('1.5'),
  'a list of texts': () => filling('"a"'),
  'a list of different texts': () =>
    `[${Array.from({ length: SIZE / 10 }, (_, place) => `"${String(place).padStart(7, '0')}"`).join()}]`,
  'a list of empty texts': () => filling('""'),
  'a list of empty objects': () => filling('{}'),
  'a list of properties': () => filling('{"property":"first_name"}'),
  'a list of unknown properties': () => filling('{"property":"shoe_size"}'),
  'a list of events': () => filling('{"id":"x","type":"user.removed","data":{}}'),
  'a list of names that objects have': () => filling('{"__proto__":1,"constructor":{}}'),
  'nested lists': () => nested('[', ']'),
  'nested objects': () => nested('{"a":', '}'),
  'an object of different names': () =>
    `{${Array.from({ length: SIZE / 12 }, (_, place) => `"${String(place).padStart(7, '0')}":1`).join()}}`,
  'an object of one long name': () => `{"${'é'.repeat(SIZE / 2)}":1}`,
  'an object that repeats a name': () => filling('"__proto__":1', '{', '}'),
} satisfies Record<string, () => string>;

const jsonOf = (kind: keyof typeof values): string => values[kind]();

/** The kinds of values for every place. */
const EVERYWHERE = [
  'one text',
  'one text of emoji',
  'one text of spaces',
  'a list of different texts',
  'a list of empty objects',
  'a list of unknown properties',
  'an object of different names',
  'an object of one long name',
] as const satisfies (keyof typeof values)[];

const within = (json: string, place: readonly string[]): string =>
  place.reduceRight((inner, name) => (name === '0' ? `[${inner}]` : `{${JSON.stringify(name)}:${inner}}`), json);

/** The places in bodies that schemas validate. */
const places: Partial<Record<EndpointName, string[][]>> = {
  createProfiler: [['question'], ['options'], ['options', '0']],
  answerProfiler: [['profiler_id'], ['phone_number']],
  sendMessage: [['to'], ['to', '0'], ['quick_replies'], ['quick_replies', '0'], ['type'], ['send_at']],
  sendMessages: [
    ['0', 'to'],
    ['0', 'quick_replies'],
    ['0', 'send_at'],
  ],
  receiveTurnMessage: [['to'], ['turn'], ['content'], ['statuses']],
  receiveTestMessage: [['message'], ['message', 'from']],
  receiveAppEvents: [['0', 'id'], ['type'], ['data']],
  startUserDataRequest: [['reason'], ['data'], ['data', '0'], ['data', '0', 'property']],
  retrieveUserData: [['data'], ['data', '0', 'property']],
};

/** Events with a value in their data, by place. */
const EVENTS: Record<string, (json: string) => string> = {
  'a text that is received': (json) =>
    `{"id":"x","type":"message.received","data":{"from":"27821234567","to":"27820000001","type":"text","text":{"body":${json}}}}`,
  'a reason': (json) => `{"id":"x","type":"message.state","data":{"id":"x","state":"read","reason":${json}}}`,
  answers: (json) => `{"id":"x","type":"user_data.answered","data":{"id":"x","answers":${json}}}`,
  properties: (json) => `{"id":"x","type":"user.updated","data":{"phone_number":"27821234567","properties":${json}}}`,
};

const form = (field: string): string => field.repeat(SIZE / field.length);

const forms: Record<string, () => string> = {
  'one field': () => `text=${form('a')}`,
  'one field of escapes': () => `text=${form('%F0%9F%98%80')}`,
  'one field of plus signs': () => `text=${form('+')}`,
  'empty fields': () => form('&'),
  'a field again and again': () => form('quick_reply=a&'),
  'different fields': () =>
    Array.from({ length: SIZE / 10 }, (_, place) => `${String(place).padStart(7, '0')}=a`).join('&'),
  'equals signs': () => form('='),
  'a broken escape at the end': () => `text=${form('a')}%`,
};

export const BOUNDARY = 'boundary-of-the-form-12345678901234567890';

const part = (content: string, head = 'Content-Disposition: form-data; name="a"'): string =>
  `--${BOUNDARY}\r\n${head}\r\n\r\n${content}\r\n`;

const multipart = (parts: string): string => `${parts}--${BOUNDARY}--\r\n`;

const multiparts: Record<string, () => string> = {
  'one part': () => multipart(part('a'.repeat(SIZE))),
  'empty parts': () => multipart(part('').repeat(SIZE / part('').length)),
  'a hundred parts': () => multipart(part('a'.repeat(SIZE / 100 - 120)).repeat(100)),
  'boundaries alone': () => multipart(`--${BOUNDARY}\r\n`.repeat(SIZE / (BOUNDARY.length + 4))),
  'line ends': () => multipart(part('\r\n'.repeat(SIZE / 2))),
  hyphens: () => multipart(part('\r\n--'.repeat(SIZE / 4))),
  'one long header': () => multipart(part('', `Content-Disposition: form-data; name="${'a'.repeat(SIZE)}"`)),
  'many headers': () => multipart(part('', `Content-Disposition: form-data; name="a"${'\r\nA: b'.repeat(SIZE / 6)}`)),
  'no end': () => part('a'.repeat(SIZE)).slice(0, -2),
};

export interface HostileBody {
  endpoint: EndpointName;
  kind: string;
  make: () => string;
}

/** The hostile bodies of an endpoint. */
const bodiesOf = (endpoint: EndpointName, { body }: Endpoint): HostileBody[] => {
  const named = (kind: string, make: () => string): HostileBody => ({ endpoint, kind, make });
  if (body?.type === 'form') return Object.entries(forms).map(([kind, make]) => named(kind, make));
  if (body?.type === 'multipart') return Object.entries(multiparts).map(([kind, make]) => named(kind, make));
  const ofPlaces = (places[endpoint] ?? []).flatMap((place) =>
    EVERYWHERE.map((kind) => named(`${kind} in ${place.join('.')}`, () => within(jsonOf(kind), place))),
  );
  if (endpoint === 'receiveAppEvents') {
    return [
      ...ofPlaces,
      ...Object.entries(EVENTS).flatMap(([where, event]) =>
        EVERYWHERE.map((kind) => named(`${kind} as ${where}`, () => event(jsonOf(kind)))),
      ),
    ];
  }
  if (endpoint !== 'sendMessage') return ofPlaces;
  // Parsing and unknown fields are the same for all endpoints, so one endpoint is enough.
  return [
    ...ofPlaces,
    ...(Object.keys(values) as (keyof typeof values)[]).flatMap((kind) => [
      named(`${kind} as the body`, () => jsonOf(kind)),
      named(`${kind} that nobody asks for`, () => within(jsonOf(kind), ['unknown'])),
    ]),
  ];
};

const endpoints = Object.entries<Api[EndpointName]>(api) as [EndpointName, Endpoint][];

/** One hostile body for each endpoint, place and kind. */
export const hostileBodies: HostileBody[] = endpoints.flatMap(([name, endpoint]) => bodiesOf(name, endpoint));

/** A message with `count` quick replies. */
export const quickReplies = (count: number): string =>
  `{"to":"27821234567","type":"text","text":{"body":"Hi"},"quick_replies":[${Array(count).fill('"a"').join()}]}`;
