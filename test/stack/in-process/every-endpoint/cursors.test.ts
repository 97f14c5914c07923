/**
 * Cursors of every list in the API list. Their checksum is not secret: anybody can make one with any position.
 *
 * @module-tag long
 */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import * as v from 'valibot';
import { beforeAll, describe, expect, test } from 'vitest';
import { updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import type { Endpoint } from '../../../../shared/api/endpoint.ts';
import { api, type EndpointName } from '../../../../shared/api/index.ts';
import { encodeCursor } from '../../../../shared/http/cursor.ts';
import { logPosition } from '../../../../shared/outbox/log-positions.ts';
import { asProblem, call, sendRaw } from '../../support/client.ts';
import { newCaller, newPhone } from '../../support/world.ts';

const SINCE = '2026-01-01T00:00:00Z';

interface List {
  /** What the function passes as filters for this request. */
  filters: (account: string, profiler: string) => Parameters<typeof encodeCursor>[1];
  path?: (profiler: string) => Record<string, string>;
  body?: object;
  /** A position that the list accepts. */
  valid: string;
}

const JOB = randomUUID();

/** The position of a log entry. */
const LOGGED = logPosition('2026-01-01T00:00:00.000000', '0190f3a0-7b1c-7d3e-8f00-00112233aabb', 'sent');
const ATTEMPT = 'ATTEMPT#0190f3a0-7b1c-7d3e-8f00-00112233aabb#0190f3a07b1c';

/** The request for each list. A list that is missing here fails the first test. */
const lists: Partial<Record<EndpointName, List>> = {
  listProfilers: { filters: (account) => [account], valid: '0190f3a0-7b1c-7d3e-8f00-00112233aabb' },
  listAnswers: {
    filters: (account, profiler) => [account, profiler],
    path: (id) => ({ id }),
    valid: '27821234567',
  },
  listLogs: {
    filters: (account) => [account, undefined, undefined, undefined, undefined, undefined, undefined],
    valid: LOGGED,
  },
  listDeliveries: {
    filters: (account) => [account, undefined, undefined, undefined, undefined, undefined],
    valid: ATTEMPT,
  },
  listUserDataRequests: {
    filters: (account) => [account, undefined, undefined, undefined],
    valid: '2026-01-01T00:00:00.000000#0190f3a0-7b1c-7d3e-8f00-00112233aabb',
  },
  listReceipts: {
    filters: (account) => [account, undefined, undefined, undefined],
    valid: '2026-01-01T00:00:00.000000#0190f3a0-7b1c-7d3e-8f00-00112233aabb#withdrawn',
  },
  listRecentJobs: {
    filters: (account) => [account, undefined, undefined],
    valid: '2026-01-01T00:00:00.000000#0190f3a0-7b1c-7d3e-8f00-00112233aabb',
  },
  listHistory: { filters: (account) => [account], valid: '0190f3a0-7b1c-7d3e-8f00-00112233aabb' },
  exportJobLog: {
    filters: (account) => [account, JOB, 'log.csv'],
    path: () => ({ job_id: JOB, file: 'log.csv' }),
    valid: `sent ${LOGGED}`,
  },
  exportProfiler: {
    filters: (account, profiler) => [account, profiler, 'answers.csv'],
    path: (id) => ({ id, file: 'answers.csv' }),
    valid: '27821234567',
  },
  recoverDeliveries: {
    filters: (account) => [account, Date.parse(SINCE), undefined, undefined],
    body: { since: SINCE },
    valid: `3 ${ATTEMPT}`,
  },
};

/** Positions that no list has: of wrong types and sizes, beyond every range of keys, and of attacks on parsers. */
const FORGED: readonly string[] = [
  ...['', ' ', '~', '~~~~', '\u0000', '\uffff', '\u{10ffff}', '\ud800', 'a\u0000b', '#', '##', '###'],
  ...['null', 'undefined', 'true', '0', '-1', '17', '99', '1e9', 'NaN', '[]', '{}', '{"pk":"A","sk":"B"}'],
  ...['__proto__', 'constructor', '../../..', '%00', "' OR 1=1", 'ACCOUNT#x', 'ANSWER#~', 'ATTEMPT#~', 'PROFILER#~'],
  ...[
    '0827821234567',
    '+27821234567',
    '99 ATTEMPT#x',
    '3 ',
    '3  ',
    '3 4',
    '-3',
    '3.5',
    `16 ${ATTEMPT}`,
    `x ${ATTEMPT}`,
  ],
  ...[`${ATTEMPT}~`, ATTEMPT.toUpperCase(), `${ATTEMPT} ${ATTEMPT}`, '9999-12-31T23:59:59.999999', '2026-01-01'],
  ...[LOGGED.toUpperCase(), LOGGED.slice(1), `${LOGGED}h`, `${LOGGED.slice(0, -1)}i`, `0 ${LOGGED}`, `sent ${LOGGED}h`],
  ...['2026-01-01T00:00:00.000000#x#sent', '2026-01-01T00:00:00.000000#0190f3a0-7b1c-7d3e-8f00-00112233aabb#\uffff'],
  ...['[[[['.repeat(60), 'x'.repeat(250), '9'.repeat(250), '☺'.repeat(83)],
];

const names = Object.keys(api).filter((name): name is EndpointName => Object.hasOwn(api, name));
const pagedNames = names.filter((name) => 'cursor' in fieldsOf(api[name]));

/** The parameters of an endpoint's query. */
function fieldsOf({ query }: Endpoint): object {
  return query !== undefined && 'entries' in query ? Object(query.entries) : {};
}

test('every endpoint with a parameter cursor declares the form of its positions, and has a request here', () => {
  expect(names.filter((name) => 'position' in api[name])).toEqual(pagedNames);
  expect(Object.keys(lists).sort()).toEqual(pagedNames.toSorted());
  for (const name of pagedNames) expect(v.is(positionOf(name), lists[name]?.valid), name).toBe(true);
});

const positionOf = (name: EndpointName): v.GenericSchema<string> => pagedOf(name).position;

const pagedOf = (name: EndpointName) => {
  const { routes, position }: Endpoint = api[name];
  if (position === undefined) throw new Error(`${name} has no position.`);
  return { routes, position };
};

describe.each(pagedNames.map((name) => ({ name })))('$name', ({ name }) => {
  const list = lists[name] ?? { filters: () => [], valid: '' };
  let [token, account, profiler, other] = ['', '', '', ''];

  beforeAll(async () => {
    ({ token, account } = await newCaller('profilers', 'stats', 'bridge', 'messages', 'user_data', 'admin'));
    const message = { to: newPhone(), type: 'text' as const, text: { body: 'Hi' } };
    await call('sendMessage', { token, query: { job_id: JOB }, body: message });
    ({ account: other } = await newCaller('profilers', 'stats', 'bridge'));
    const settings = { url: 'http://127.0.0.1:1/hook', secret: `whsec_${Buffer.alloc(32).toString('base64')}` };
    await updateAccount(account, { platform: { name: 'webhook', settings } });
    const body = { question: 'Well?', options: ['a', 'b'] };
    profiler = (await call('createProfiler', { token, body })).body.profiler_id;
  });

  const request = (cursor: string) =>
    sendRaw(name, {
      token,
      path: list.path?.(profiler) ?? {},
      query: new URLSearchParams({ cursor }).toString(),
      ...(list.body && { body: JSON.stringify(list.body), headers: { 'content-type': 'application/json' } }),
    });

  const cursorOf = (position: string, owner = account, of = name) =>
    encodeCursor(pagedOf(of), list.filters(owner, profiler), position);

  const expectRejected = async (cursor: string): Promise<void> => {
    const { status, body } = asProblem(await request(cursor));
    expect({ status, errors: body.errors }, JSON.stringify(Buffer.from(cursor, 'base64url').toString())).toEqual({
      status: 422,
      errors: [{ parameter: 'cursor', detail: expect.stringContaining('Link header') }],
    });
  };

  test('continues at a valid position, so that the other cursors are rejected for their positions', async () => {
    expect((await request(cursorOf(list.valid))).status).toBeLessThan(300);
  });

  test('returns 422 or a page for a cursor with a right checksum and any position', async () => {
    const forged = [...FORGED, ...Object.values(lists).map(({ valid }) => valid)];
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.string({ unit: 'binary', maxLength: 300 }),
          fc.json({ maxDepth: 5 }),
          // A valid position with one other character.
          fc
            .tuple(fc.nat(list.valid.length), fc.string({ unit: 'binary', minLength: 1, maxLength: 2 }))
            .map(([index, other]) => `${list.valid.slice(0, index)}${other}${list.valid.slice(index + 1)}`),
        ),
        async (position) => {
          if (!v.is(positionOf(name), position)) await expectRejected(cursorOf(position));
          else expect((await request(cursorOf(position))).status, JSON.stringify(position)).toBeLessThan(300);
        },
      ),
      { numRuns: forged.length + 30, examples: forged.map((position) => [position]) },
    );
  });

  test('returns 422 for a cursor of another account, another list, or other filters', async () => {
    await expectRejected(cursorOf(list.valid, other));
    for (const of of pagedNames) if (of !== name) await expectRejected(cursorOf(list.valid, account, of));
    await expectRejected(encodeCursor(pagedOf(name), [...list.filters(account, profiler), randomUUID()], list.valid));
  });

  test('returns 422 for a cursor that was cut or changed', async () => {
    const cursor = cursorOf(list.valid);
    const changed = [...'Aa0'].map((letter) => `${cursor.slice(0, 5)}${letter}${cursor.slice(6)}`);
    const wrong = [cursor.slice(0, -1), cursor.slice(1), `${cursor}A`, `${cursor}=`, '', 'x'.repeat(6_000), ...changed];
    for (const one of wrong.filter((one) => one !== cursor)) await expectRejected(one);
  });
});
