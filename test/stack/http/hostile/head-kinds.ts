/** Hostile methods, paths, queries and headers. */
import fc, { type Arbitrary } from 'fast-check';
import type { Operation } from './description.ts';
import { INTACT, type Kind } from './kind.ts';
import { type Draft, ODD_TEXTS } from './well-formed.ts';
import type { Sent } from './wire.ts';
import { asHeader, queryOf, write } from './writing.ts';

const always = (): boolean => true;

const hasParameter = (place: 'path' | 'query' | 'header') => (operation: Operation) =>
  operation.parameters.some((parameter) => parameter.in === place);

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'M-SEARCH'];

/** Changes of a path. */
const DETOURS: ((path: string) => string)[] = [
  (path) => `${path}/`,
  (path) => `/${path}`,
  (path) => `${path}//`,
  (path) => path.replaceAll('/', '//'),
  (path) => `/.${path}`,
  (path) => `${path}/.`,
  (path) => `${path}/..`,
  (path) => `${path}/../${path.split('/').at(-1)}`,
  (path) => `/x/..${path}`,
  (path) => `/x/%2e%2e${path}`,
  (path) => `/..%2f..%2f${path}`,
  (path) => path.replace(/(?<=.)\//, '%2F'),
  (path) => path.replaceAll('/', '\\'),
  (path) => path.toUpperCase(),
  (path) => path.replace('v1', 'V1'),
  (path) => path.replace('v1', '%761'),
  (path) => `${path};a=b`,
  (path) => `${path}%00`,
  (path) => `${path}%0d%0aX-Header:%20b`,
  (path) => `${path}%20`,
  (path) => `${path}.json`,
  (path) => `${path}#fragment`,
  (path) => `${path}%`,
  (path) => `${path}%c0%ae%c0%ae`,
  (path) => `${path}/${'a/'.repeat(2_000)}`,
  (path) => `${path}${'a'.repeat(8_000)}`,
  (path) => `http://localhost${path}`,
  (path) => `//localhost${path}`,
  () => '/',
  () => '*',
  () => '/%',
  () => '/v1',
  () => '/v1/__proto__',
  () => '/.env',
];

/** Raw values of path segments. */
const SEGMENTS = [
  ...ODD_TEXTS.map(encodeURIComponent),
  '..',
  '.',
  '%2e%2e',
  '%2F',
  'a%2Fb',
  '%2e%2e%2f%2e%2e%2f',
  '%',
  '%zz',
  '%ff',
  '%ed%a0%80',
  '%c0%af',
  '%00',
  '%20',
  '+',
  '*',
  '-1',
  '{id}',
  '0000000',
  '+27821234567',
  '123456789012345',
  '00000000-0000-0000-0000-000000000000',
  'FFFFFFFF-FFFF-4FFF-BFFF-FFFFFFFFFFFF',
  '\u00ff\u00fe',
  'a'.repeat(1_025),
  '1'.repeat(2_049),
  '%F0%9F%98%80'.repeat(700),
];

/** Raw values of query parameters. */
const QUERY_VALUES = [
  ...ODD_TEXTS.map(encodeURIComponent),
  '',
  '%',
  '%zz',
  '%ff',
  '%ed%a0%80',
  '%00',
  '+',
  '-1',
  '-0',
  '1.5',
  '1e3',
  '0x10',
  '٣',
  '１',
  'NaN',
  'Infinity',
  '99999999999999999999',
  '9007199254740993',
  '253402300800',
  '2021-02-30',
  '0000-01-01',
  '9999-12-31',
  '+010000-01-01',
  'true',
  'null',
  '[]',
  'a,b',
  'sent,read',
  '27821234567@',
  '@users.example.com',
  'A'.repeat(2_000),
  'A'.repeat(8_000),
].map((value) => value.replaceAll(/[^\x21-\x7e]/g, encodeURIComponent));

/** Parameter names that many programs mishandle, derived from a valid name. */
const names = (name: string): string[] => [
  name,
  `${name}[]`,
  `${name}[$gt]`,
  `${name}.a`,
  `%20${name}`,
  name.toUpperCase(),
  '__proto__',
  'constructor[prototype]',
  '',
  '%',
];

/** An unknown parameter. */
const UNKNOWN: [string, string] = ['a', 'b'];

const HEADERS: [string, string][] = [
  ['Host', 'example.com'],
  ['Host', ''],
  ['X-Forwarded-For', "127.0.0.1, ' OR 1=1"],
  ['X-Forwarded-Host', 'example.com'],
  ['X-Original-URL', '/v1/stats/logs'],
  ['X-HTTP-Method-Override', 'DELETE'],
  ['X-Amzn-Trace-Id', 'Root=1;Parent=../../x'],
  ['X-Amz-Target', 'DynamoDB_20120810.Scan'],
  ['Accept', 'text/html, application/xml;q=0.9'],
  ['Accept', '*/*;q=NaN'],
  ['Accept-Encoding', 'gzip, br, zstd'],
  ['Accept-Language', 'x'.repeat(2_000)],
  ['Cookie', 'a=b; __proto__=c; ; =; d'],
  ['Range', 'bytes=5-1,-1'],
  ['If-Match', '*'],
  ['If-None-Match', '*'],
  ['If-None-Match', 'W/"a", "", *,,'],
  ['If-Modified-Since', 'never'],
  ['Origin', 'null'],
  ['Access-Control-Request-Method', 'DELETE'],
  ['Upgrade-Insecure-Requests', '1'],
  ['User-Agent', '() { :; }; echo a'],
  ['Content-Language', '\u00ff\u00fe'],
  ['Content-MD5', 'none'],
  ['__proto__', 'a'],
  ['constructor', 'a'],
  ['X-Turn-Hook-Signature', '='],
  ['X-Turn-Hook-Signature', 'A'.repeat(4_000)],
  ['X-Turn-Hook-Subscription', ''],
  ['Idempotency-Key', ''],
  ['Idempotency-Key', ' \t '],
  ['Idempotency-Key', 'a'.repeat(256)],
  ['Idempotency-Key', 'a'.repeat(9_000)],
  ['Idempotency-Key', '\u00ff\u00fe\u0080'],
  ['Idempotency-Key', '__proto__'],
];

const withHeader = (sent: Sent, ...more: [string, string][]): Sent => ({
  ...sent,
  headers: [
    ...sent.headers.filter(([name]) => !more.some(([other]) => other === name)),
    ...more.map(([name, value]): [string, string] => [name, asHeader(value)]),
  ],
});

/** Changes the path of a request, but not its query. */
const along = (sent: Sent, change: (path: string) => string): Sent => {
  const [path = '', ...query] = sent.target.split('?');
  return { ...sent, target: [change(path), ...query].join('?') };
};

/** Replaces a path parameter by a raw segment. */
const inPath = (draft: Draft, segment: string): Sent => {
  const [name = ''] = draft.operation.parameters.filter((one) => one.in === 'path').map((one) => one.name);
  const gap = 'gap-in-the-path';
  return along(write({ ...draft, path: { ...draft.path, [name]: gap } }), (path) => path.replace(gap, () => segment));
};

/** A known value with a small change. A check of only its beginning would accept most of these. */
const nearly = (value: string): Arbitrary<string> =>
  fc.constantFrom(
    `${value}A`,
    value.slice(0, -1),
    `${value.slice(0, -2)}__`,
    `${value}${'A'.repeat(1_500)}`,
    `${value}${'A'.repeat(6_000)}`,
    `${value}=`,
    `${value} `,
    ` ${value}`,
    `${value}\n`,
    `${value}\0`,
    value.toUpperCase(),
    value.repeat(2),
  );

const parameterNames = (operation: Operation): string[] =>
  operation.parameters.filter((one) => one.in === 'query').map(({ name }) => name);

export const headKinds: Record<string, Kind> = {
  'another method': {
    applies: always,
    make: (drafts) =>
      fc.tuple(drafts, fc.constantFrom(...METHODS)).map(([draft, method]) => ({ ...write(draft), method })),
  },
  'a changed path': {
    applies: always,
    make: (drafts) =>
      fc.tuple(drafts, fc.constantFrom(...DETOURS)).map(([draft, detour]) => along(write(draft), detour)),
  },
  'an unusual path parameter': {
    applies: hasParameter('path'),
    make: (drafts) => fc.tuple(drafts, fc.constantFrom(...SEGMENTS)).map(([draft, segment]) => inPath(draft, segment)),
  },
  'a nearly valid path parameter': {
    applies: hasParameter('path'),
    make: (drafts) =>
      drafts
        .chain((draft) => fc.tuple(fc.constant(draft), nearly(Object.values(draft.path)[0] ?? '')))
        .map(([draft, value]) => inPath(draft, encodeURIComponent(value.toWellFormed()))),
  },
  'unusual query parameters': {
    applies: always,
    make: (drafts) =>
      fc
        .tuple(drafts, fc.nat(), fc.nat(), fc.constantFrom(...QUERY_VALUES), fc.constantFrom('', '&', '&&=&', '&a'))
        .map(([draft, which, way, value, end]) => {
          const [name = 'a', ...others] = rotated(parameterNames(draft.operation), which);
          // In two of three requests the name is valid.
          const given = way % 3 === 0 ? (names(name)[way % names(name).length] ?? name) : name;
          const kept = Object.entries(draft.query).filter(([other]) => others.includes(other));
          return along(
            write({ ...draft, query: {} }),
            (path) => `${path}${queryOf(kept) || '?'}&${given}=${value}${end}`,
          );
        }),
  },
  'a nearly valid query parameter': {
    applies: hasParameter('query'),
    make: (drafts) =>
      fc
        .tuple(
          drafts.filter(({ query }) => Object.keys(query).length > 0),
          fc.nat(),
          fc.boolean(),
        )
        .chain(([draft, which, alone]) => {
          const [[name, value] = ['', '']] = rotated(Object.entries(draft.query), which);
          const others = alone ? {} : draft.query;
          return nearly(value).map((given) => write({ ...draft, query: { ...others, [name]: given } }));
        }),
  },
  'repeated query parameters': {
    share: INTACT,
    applies: always,
    make: (drafts) =>
      fc.tuple(drafts, drafts, fc.integer({ min: 2, max: 40 })).map(([draft, other, times]) => {
        const pairs = [...Object.entries(draft.query), ...Object.entries(other.query)];
        const repeated = Array.from({ length: times }, (_, at) => pairs[at % pairs.length] ?? UNKNOWN);
        return along(write({ ...draft, query: {} }), (path) => `${path}${queryOf(repeated)}`);
      }),
  },
  'no query': {
    applies: (operation) => operation.parameters.some((one) => one.in === 'query' && one.required),
    rejected: true,
    make: (drafts) => drafts.map((draft) => write({ ...draft, query: {} })),
  },
  'unusual headers': {
    share: INTACT,
    applies: always,
    make: (drafts) =>
      fc
        .tuple(drafts, fc.subarray(HEADERS, { minLength: 1, maxLength: 4 }))
        .map(([draft, headers]) => withHeader(write(draft), ...headers)),
  },
  'repeated headers': {
    share: INTACT,
    applies: always,
    make: (drafts) =>
      fc
        .tuple(drafts, fc.constantFrom(...HEADERS), fc.integer({ min: 2, max: 30 }))
        .map(([draft, [name, value], times]) =>
          withHeader(
            write(draft),
            ...Array.from({ length: times }, (): [string, string] => [name, value.slice(0, 200)]),
          ),
        ),
  },
  'headers over the limit': {
    applies: always,
    share: 0.5,
    rejected: true,
    make: (drafts) =>
      fc
        .tuple(drafts, fc.integer({ min: 10_300, max: 14_000 }), fc.boolean())
        .map(([draft, size, single]) =>
          withHeader(
            write(draft),
            ...(single
              ? [['X-More', 'a'.repeat(size)] satisfies [string, string]]
              : Array.from({ length: 100 }, (_, at): [string, string] => [`X-More-${at}`, 'a'.repeat(size / 100)])),
          ),
        ),
  },
};

/** A list, rotated by so many positions. */
const rotated = <One>(list: One[], by: number): One[] => {
  const start = list.length === 0 ? 0 : by % list.length;
  return [...list.slice(start), ...list.slice(0, start)];
};
