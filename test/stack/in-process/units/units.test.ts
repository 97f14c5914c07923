/**
 * Every request costs at most a stated number of units: the most expensive ones of each endpoint are sent and metered.
 *
 * @module-tag long
 */
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { handler as authorizer } from '../../../../functions/authorizer.ts';
import { createAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { issueToken } from '../../../../infra/operator/queries/tokens-admin.ts';
import { bucketTable, takeTokens } from '../../../../shared/accounts/rate-limit/bucket.ts';
import { api, type EndpointName } from '../../../../shared/api/index.ts';
import { expand } from '../../../../shared/campaigns/expand.ts';
import { deliver } from '../../../../shared/delivery/deliver.ts';
import { logPartitions } from '../../../../shared/outbox/entities.ts';
import type { LogItem } from '../../../../shared/outbox/message.ts';
import { countEntries } from '../../../../shared/stats/job-counters.ts';
import { getManyConsistent, page } from '../../../../shared/table/client.ts';
import type { Key } from '../../../../shared/table/keys.ts';
import { captureLog } from '../../../support/captured-log.ts';
import { callOf, scenarios, worstOf } from '../../scenarios/all.ts';
import type { Worst } from '../../scenarios/scenarios.ts';
import { largestBusiness } from '../../scenarios/world.ts';
import { type Units, unitsOf } from '../../support/consumed.ts';
import { DestinationServer } from '../../support/destination-server.ts';
import { useOwnTable, useSecret, useServedBucket } from '../../support/own-table.ts';
import { newAccountId } from '../../support/world.ts';
import type { Answer, Request } from '../failing-calls/scenario.ts';
import { posts } from '../failing-calls/world.ts';

/** Of each request: to authorize it, if that is not cached, and two leases of the rate limit. */
const besides: Units = { read: 3, write: 6 };

const names = Object.keys(api) as EndpointName[];
const secret = `whsec_${Buffer.alloc(32).toString('base64')}`;

let server: DestinationServer;

captureLog();
useOwnTable('units');
useServedBucket();
useSecret(() => JSON.stringify({ url: posts.url, secret }));

beforeAll(async () => {
  server = await DestinationServer.start();
  posts.url = server.url;
});

afterAll(() => server.close());

afterEach(() => void vi.useRealTimers());

const send = async (name: EndpointName, request: Request): Promise<Answer> => (await callOf(name, request))();

/** Sends a request. Returns the units of the whole. */
const measure = async (
  name: EndpointName,
  { prepare = async () => ({}), status, beyond, whole = (units) => units }: Worst,
) => {
  const business = await largestBusiness();
  const request = { account: business.account, ...(await prepare(business)) };
  if (beyond !== undefined) {
    const { status: rejected, body } = await send(name, { ...request, ...beyond(request) });
    expect(rejected, JSON.stringify(body)).toBe(422);
  }
  let answer: Answer | undefined;
  const measured = await unitsOf(async () => {
    answer = await send(name, request);
  });
  const expected = status === undefined ? [200, 201, 204] : [status];
  expect(expected, JSON.stringify(answer?.body)).toContain(answer?.status);
  return whole(measured);
};

/** The log entries of a contact. */
const logOf = async (account: string, phone: string): Promise<LogItem[]> => {
  const { items } = await page<Key>({
    IndexName: 'gsi2',
    KeyConditionExpression: 'gsi2pk = :pk',
    ExpressionAttributeValues: { ':pk': logPartitions.gsi2(account, { phone }) },
  });
  return (await getManyConsistent<LogItem[]>(items)).filter((item) => item !== undefined);
};

/** Has the workers do what follows from a request, with the first delivery of everything. Returns the units of the whole. */
const measureLater = async (name: EndpointName, { prepare, times }: NonNullable<Worst['later']>): Promise<Units> => {
  const { account } = await largestBusiness(posts.url);
  const { phones, ...parts } = await prepare();
  const request = { account, ...parts };
  expect(await send(name, request)).toMatchObject({ status: 200 });
  const worked = await unitsOf(async () => {
    await expand(account, undefined, Date.now() + 60_000);
    for (const phone of phones) {
      await deliver({ direction: 'app', account, phone }, () => 60_000);
      await deliver({ direction: 'platform', account, phone }, () => 60_000);
    }
  });
  const logged = (await Promise.all(phones.map((phone) => logOf(account, phone)))).flat();
  expect(logged.length).toBe(2 * phones.length);
  const counted = await unitsOf(() => countEntries(logged));
  return { read: (worked.read + counted.read) * times, write: (worked.write + counted.write) * times };
};

/** A statement is at most so many times what the most expensive request took, or it would say nothing. */
const MOST_ABOVE = 3;

/** Fails unless the most expensive of these measurements is at most what is stated, and not far below. */
const compare = (measured: Units[], { read, write }: Units): void => {
  for (const [stated, kind] of [
    [read, 'read'],
    [write, 'write'],
  ] as const) {
    const max = Math.max(...measured.map((units) => units[kind]));
    expect(max, `${kind} units; state \`most\` in test/stack/scenarios/`).toBeLessThanOrEqual(stated);
    expect(stated, `stated ${kind} units, of which ${max} were measured`).toBeLessThanOrEqual(MOST_ABOVE * max);
  }
};

/** Skipped on DynamoDB Local, which reports other units for transactions than DynamoDB. */
const isOtherDatabase = Boolean(process.env.DYNAMODB_ENDPOINT);

test.skipIf(isOtherDatabase).each(names)('%s costs at most the stated number of units', async (name) => {
  const measured = [];
  for (const one of worstOf(name)) measured.push(await measure(name, one));
  compare(measured, scenarios[name].max);
});

const fanningOut = names.filter((name) => scenarios[name].max.later !== undefined);

test.skipIf(isOtherDatabase).each(fanningOut)('%s causes at most the stated number of units later', async (name) => {
  const measured = [];
  for (const { later } of worstOf(name)) if (later !== undefined) measured.push(await measureLater(name, later));
  compare(measured, scenarios[name].max.later ?? { read: 0, write: 0 });
});

test.skipIf(isOtherDatabase)(
  'authorizing a request and its rate limit cost at most the stated number of units',
  async () => {
    const { id: account } = await createAccount({ name: 'Test', id: newAccountId() });
    const { token } = await issueToken(account, { label: 'test', permissions: ['stats'] });
    const requestContext = { requestId: 'request-1' };
    const authorized = await unitsOf(async () => {
      const { isAuthorized } = await authorizer({ routeKey: 'GET /', identitySource: [token], requestContext });
      expect(isAuthorized).toBe(true);
    });
    // The process knows nothing of the bucket, which is empty.
    const [limit, clock] = [{ rate: 100, burst: 200 }, Date.now];
    const take = () => takeTokens(bucketTable, account, limit, { wanted: 10, emptyAt: undefined, clock });
    const limited = await unitsOf(take);
    expect(authorized.read).toBeLessThanOrEqual(besides.read);
    expect(authorized.write).toBe(0);
    // Each of the two leases.
    expect(2 * limited.write).toBeLessThanOrEqual(besides.write);
  },
);
