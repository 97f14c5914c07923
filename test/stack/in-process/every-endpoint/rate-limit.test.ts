/**
 * The limit of an account, over all its endpoints and all their processes.
 *
 * @module-tag long
 */
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { issueToken } from '../../../../infra/operator/queries/tokens-admin.ts';
import { rateKey } from '../../../../shared/accounts/entities.ts';
import { type BucketTable, bucketTable, takeTokens } from '../../../../shared/accounts/rate-limit/bucket.ts';
import type { Permission } from '../../../../shared/core/permissions.ts';
import { listLogs } from '../../../../shared/stats/delivery-log.ts';
import { getConsistent } from '../../../../shared/table/client.ts';
import { MemoryBuckets } from '../../../support/memory-buckets.ts';
import { asProblem, call, sendRaw } from '../../support/client.ts';
import { newAccountId, newCaller, newPhone, newVendor } from '../../support/world.ts';

/** A limit that a test reaches, and that stays reached, however long the test takes. */
const limit = { rate: 0.001, burst: 4 };

const limited = async (...permissions: Permission[]) => {
  const { id: account } = await createAccount({
    name: 'Test',
    id: newAccountId(),
    bot_number: newPhone(),
    ...limit,
  });
  return { account, token: (await issueToken(account, { label: 'test', permissions })).token };
};

/**
 * Sends requests until one is rejected. Returns it, and the number of admitted ones: more than the burst on a machine that
 * is so slow that the table does not answer the limit in time.
 */
const untilRejected = async <Response extends { status: number }>(
  send: (index: number) => Promise<Response>,
  status: number,
) => {
  for (let admitted = 0; ; admitted += 1) {
    const response = await send(admitted);
    if (response.status === status) return { rejected: response, admitted };
    expect(response.status).toBeLessThan(300);
  }
};

describe('an account over its limit', () => {
  test('is rejected on all endpoints, and no other account is', async () => {
    const { account, token } = await limited('profilers', 'stats');
    const endpoints = [() => sendRaw('listProfilers', { token }), () => sendRaw('listJobs', { token, query: PERIOD })];
    for (const send of endpoints) {
      const { headers, body } = asProblem((await untilRejected(send, 429)).rejected);
      expect(body).toMatchObject({ code: 'rate_limited', status: 429 });
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(1);
      expect(headers.get('ratelimit-policy')).toBe('"account";q=4;w=4000');
      expect(headers.get('ratelimit')).toBe(`"account";r=0;t=${headers.get('retry-after')}`);
    }
    const other = await newVendor();
    await expect
      .poll(async () => (await call('listProfilers', other)).headers.get('ratelimit'))
      .toMatch(/^"account";r=\d+;t=1$/);
    // The bucket of an idle account goes by itself.
    expect(await getConsistent(rateKey(account))).toMatchObject({ expires_at: expect.any(Number) });
  });

  test('gets 503 with Retry-After on the route of RapidPro, and its request has no effect', async () => {
    const { account, token } = await limited('bridge');
    const send = (index: number) =>
      sendRaw('receiveRapidproMessage', {
        token,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ to: newPhone(), text: 'hello', id: String(index) }).toString(),
      });
    const { rejected, admitted } = await untilRejected(send, 503);
    const { headers, body } = asProblem(rejected);
    expect(body).toMatchObject({ code: 'unavailable' });
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(1);
    // Each message is to another number. The list of this process writes them as the service does.
    vi.stubEnv('JID_DOMAIN', 'users.example.com');
    onTestFinished(() => void vi.unstubAllEnvs());
    const { entries } = await listLogs(account, {}, 100);
    expect(new Set(entries.map(({ contact }) => contact)).size).toBe(admitted);
  });

  test('the app network has no limit', async () => {
    const { token } = await newCaller('app');
    const { headers } = await sendRaw('receiveAppEvents', {
      token,
      headers: { 'content-type': 'application/json' },
      body: '[]',
    });
    expect(headers.has('ratelimit')).toBe(false);
  });
});

test('the table decides each write of a bucket as the tests without a table do', async () => {
  const account = newAccountId();
  const memory = new MemoryBuckets();
  const ofAccount = { rate: 10, burst: 20 };
  const start = Date.now();
  const outcomes = async (table: BucketTable) => {
    const found: unknown[] = [];
    let emptyAt: number | undefined;
    for (const [ms, wanted, isKnown] of STEPS) {
      const taken = await takeTokens(table, account, ofAccount, {
        wanted,
        emptyAt: isKnown ? emptyAt : undefined,
        clock: () => start + ms,
      });
      emptyAt = taken.emptyAt;
      found.push(taken);
    }
    return found;
  };
  const inTable = await outcomes(bucketTable);
  expect(inTable).toEqual(await outcomes(memory));
  expect(inTable).toContainEqual(expect.objectContaining({ tokens: 0 }));
});

/** Milliseconds, tokens wanted, and whether the process knows what it saw last. */
const STEPS: [ms: number, wanted: number, isKnown: boolean][] = [
  [0, 1, false],
  [0, 50, true],
  [1, 50, false],
  [2, 50, true],
  ...Array.from({ length: 12 }, (_, index): [number, number, boolean] => [3, 3, index % 2 === 0]),
  [4, 1, true],
  [150, 5, true],
  // Earlier, as by a slow clock; and long after.
  [-2_000, 1, false],
  [60_000, 4, true],
  [-60_000, 2, true],
];

const PERIOD = new URLSearchParams({ start_date: '2026-01-01', end_date: '2026-01-01' }).toString();
