/**
 * Long polls for a user's answer: their duration, their end without an answer, and what happens without a free slot.
 *
 * @module-tag long
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Context } from 'aws-lambda';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { handler } from '../../../../functions/user-data/fetch-user-data.ts';
import { waitsKey } from '../../../../shared/accounts/entities.ts';
import type { HttpEvent } from '../../../../shared/http/event.ts';
import { documents, getConsistent, update } from '../../../../shared/table/client.ts';
import type { Key } from '../../../../shared/table/keys.ts';
import { requestKey } from '../../../../shared/user-data/entities.ts';
import type { PropertyName } from '../../../../shared/users/profile-properties.ts';
import { captureLog } from '../../../support/captured-log.ts';
import { answered, applied, removed, updated } from '../../support/app-events.ts';
import { call, fail } from '../../support/client.ts';
import { logLines } from '../../support/log-lines.ts';
import { type Caller, newCaller, newPhone } from '../../support/world.ts';

captureLog();

const PROPERTIES = { first_name: { value: 'Thandi', source: 'user' }, last_name: { value: 'Zoë', source: 'user' } };

const PENDING = { status: 'pending', results: {} };

interface Request extends Caller {
  id: string;
  phone: string;
}

/** Starts a request of a new business to a new user. The request is pending. */
const newRequest = async (...properties: PropertyName[]): Promise<Request> => {
  const phone = newPhone();
  await applied(updated(phone, { properties: PROPERTIES }));
  const caller = await newCaller('user_data');
  const asked = properties.length === 0 ? (['first_name'] as const) : properties;
  const body = { reason: 'To open your account', data: asked.map((property) => ({ property })) };
  const started = await call('startUserDataRequest', { token: caller.token, path: { phone_number: phone }, body });
  return { ...caller, phone, id: started.body.requestId };
};

const answer = ({ id }: Request, answers: Partial<Record<PropertyName, 'approved' | 'denied'>>) =>
  applied(answered(id, answers));

/** The duration of some work in milliseconds, and its result. */
const timed = async <Outcome>(work: () => Promise<Outcome>): Promise<{ took: number; outcome: Outcome }> => {
  const start = performance.now();
  const outcome = await work();
  return { took: performance.now() - start, outcome };
};

const fetchOf = ({ token, id }: Request, query: { long_poll?: string }) => ({ token, path: { id }, query });

/** Fetches a request over HTTP. */
const fetchTimed = (request: Request, query: { long_poll?: string }) =>
  timed(async () => (await call('fetchUserData', fetchOf(request, query))).body);

/** Lets all slots of an account be in use for a minute. */
const useAllSlots = async ({ account }: Caller) => {
  const names = Array.from({ length: 50 }, (_, place) => `slot${place}`);
  await update({
    Key: waitsKey(account),
    UpdateExpression: `SET ${names.map((name) => `${name} = :end`).join(', ')}`,
    ExpressionAttributeValues: { ':end': Date.now() + 60_000 },
  });
};

const slotsOf = async ({ account }: Caller) =>
  Object.entries((await getConsistent<Key>(waitsKey(account))) ?? {}).filter(([name]) => name.startsWith('slot'));

describe('a customer whose slots are all in use', () => {
  test('a long poll returns pending at once, and operators see it; another customer waits', async () => {
    const [request, other] = [await newRequest(), await newRequest()];
    await useAllSlots(request);
    expect((await fetchTimed(request, { long_poll: '30' })).outcome).toEqual(PENDING);
    const ended = async () =>
      (await logLines())
        .map(({ line }) => line)
        .filter((line) => line.user_data_request_id === request.id && /^long poll/.test(String(line.message)));
    await expect.poll(ended).toHaveLength(1);
    const [line] = await ended();
    expect(line).toMatchObject({ message: 'long poll declined', account: request.account, long_polls_declined: 1 });
    expect((await fetchTimed(other, { long_poll: '1' })).took).toBeGreaterThan(990);
  });

  test('a fetch returns values that are there, and another account gets 404 as before', async () => {
    const request = await newRequest();
    await useAllSlots(request);
    await answer(request, { first_name: 'denied' });
    const { outcome } = await fetchTimed(request, { long_poll: '30' });
    expect(outcome).toEqual({ status: 'completed', results: { first_name: { status: 'denied' } } });
    const stranger = await newRequest();
    await useAllSlots(stranger);
    const { body } = await fail('fetchUserData', fetchOf({ ...stranger, id: request.id }, { long_poll: '30' }));
    expect(body).toMatchObject({ status: 404, code: 'request_not_found' });
  });
});

test('a long poll holds a slot, no longer than it waits, and releases it after the answer', async () => {
  const request = await newRequest();
  await fetchTimed(request, {});
  await fetchTimed(request, { long_poll: '0' });
  expect(await slotsOf(request)).toEqual([]);
  const waiting = fetchTimed(request, { long_poll: '20' });
  await expect.poll(() => slotsOf(request), { interval: 100 }).toHaveLength(1);
  const [[, end] = []] = await slotsOf(request);
  expect(Number(end)).toBeGreaterThan(Date.now());
  expect(Number(end)).toBeLessThanOrEqual(Date.now() + 20_000);
  await answer(request, { first_name: 'denied' });
  await waiting;
  expect(await slotsOf(request)).toEqual([]);
});

describe('a long poll', () => {
  test('a long poll lasts until the last property is answered', async () => {
    const request = await newRequest('first_name', 'last_name');
    const waiting = fetchTimed(request, { long_poll: '20' });
    // After three seconds, the pause between two reads has its maximum.
    await pause(3_000);
    await answer(request, { first_name: 'approved' });
    await pause(1_500);
    await answer(request, { last_name: 'denied' });
    const { outcome, took } = await waiting;
    expect(took).toBeGreaterThan(4_500);
    expect(took).toBeLessThan(20_000);
    expect(outcome).toEqual({
      status: 'completed',
      results: {
        first_name: { status: 'approved', ...PROPERTIES.first_name, timestamp: expect.any(String) },
        last_name: { status: 'denied' },
      },
    });
  });

  test('a long poll returns 404 when the request is erased meanwhile', async () => {
    const request = await newRequest();
    const waiting = timed(() => fail('fetchUserData', fetchOf(request, { long_poll: '20' })));
    await pause(500);
    await applied(removed(request.phone));
    const { took, outcome } = await waiting;
    expect(outcome.body).toMatchObject({ status: 404, code: 'request_not_found' });
    expect(took).toBeGreaterThan(490);
  });

  test('a long poll returns 404 when the request expires meanwhile', async () => {
    const request = await newRequest();
    const expiry = Math.ceil(Date.now() / 1_000) + 2;
    await update({
      Key: requestKey(request.id),
      UpdateExpression: 'SET expires_at = :expiry',
      ExpressionAttributeValues: { ':expiry': expiry },
    });
    const { body } = await fail('fetchUserData', fetchOf(request, { long_poll: '20' }));
    expect(body).toMatchObject({ status: 404, code: 'request_not_found' });
    expect(Date.now()).toBeGreaterThanOrEqual(expiry * 1_000);
  });
});

describe('the handler of a long poll', () => {
  beforeAll(() => {
    vi.stubEnv('WAITS_PER_ACCOUNT', '50');
    vi.stubEnv('WAITS_IN_ALL', '500');
  });

  /** Invokes the handler in this process, with `left` milliseconds until its timeout. */
  const invoke = async (
    { account, tokenId, id }: Request,
    left: number,
    queryStringParameters: { long_poll?: string } = { long_poll: '30' },
  ) => {
    const deadline = Date.now() + left;
    const lambda = { account, token: tokenId, label: 'test', permissions: ['user_data'] };
    const event = {
      routeKey: 'GET /v1/user_data/fetch/{id}',
      headers: {},
      pathParameters: { id },
      queryStringParameters,
      requestContext: { requestId: 'request-1', http: { method: 'GET' }, authorizer: { lambda } },
    };
    const context = { getRemainingTimeInMillis: () => deadline - Date.now() };
    const { took, outcome } = await timed(() => handler(event as unknown as HttpEvent, context as Context));
    return { took, status: outcome.statusCode, body: JSON.parse(outcome.body ?? '') };
  };

  /** Calls `around` for each call with this command, instead of the table, until the test ends. */
  const onCall = (
    name: string,
    around: (input: { ConsistentRead?: boolean }, callTable: () => Promise<object>) => Promise<object>,
  ): void => {
    const { send } = documents;
    const call = send.bind(documents) as (command: object, options?: object) => Promise<object>;
    documents.send = ((command: { input: object }, options?: object) =>
      command.constructor.name === name
        ? around(command.input, () => call(command, options))
        : call(command, options)) as typeof send;
    onTestFinished(() => {
      documents.send = send;
    });
  };

  /** Intercepts reads of the table until the test ends. Returns for each read whether it was strongly consistent. */
  const onRead = (meanwhile: (place: number) => Promise<'missed' | 'found'>): boolean[] => {
    const reads: boolean[] = [];
    onCall('GetCommand', async ({ ConsistentRead: isConsistent = false }, callTable) => {
      reads.push(isConsistent);
      const what = await meanwhile(reads.length);
      const found = await callTable();
      return what === 'missed' && !isConsistent ? {} : found;
    });
    return reads;
  };

  test.each<[string, number, { long_poll?: string }]>([
    ['without long_poll', 29_000, {}],
    ['with long_poll 0', 29_000, { long_poll: '0' }],
    ['with less than a second before the timeout', 990, { long_poll: '30' }],
  ])('a fetch %s reads the request once', async (_, left, query) => {
    const request = await newRequest();
    const reads = onRead(async () => 'found');
    const { status, body } = await invoke(request, left, query);
    expect({ status, body, reads }).toEqual({ status: 200, body: PENDING, reads: [true] });
  });

  test('the handler returns pending before it times out, even if the table does not respond', async () => {
    const request = await newRequest();
    const reads = onRead(async (place) => {
      if (place > 3) await pause(8_000);
      return 'found';
    });
    const { took, status, body } = await invoke(request, 4_000);
    expect({ status, body }).toEqual({ status: 200, body: PENDING });
    expect(reads).toHaveLength(4);
    // Half a second is reserved for the last read, and half a second for the response.
    expect(took).toBeGreaterThan(2_900);
  });

  /** Fails each update of a slot with an error, until the test ends. */
  const failOnUpdate = (error: (place: number) => Error | undefined) => {
    let place = 0;
    onCall('UpdateCommand', async (_input, callTable) => {
      place += 1;
      const failure = error(place);
      if (failure) throw failure;
      return callTable();
    });
  };

  test('a slot that cannot be released changes nothing about the response', async () => {
    const request = await newRequest();
    onRead(async (place) => {
      if (place === 2) await answer(request, { first_name: 'denied' });
      return 'found';
    });
    failOnUpdate((place) => (place <= 2 ? undefined : new Error('broken')));
    const { status, body } = await invoke(request, 29_000);
    expect({ status, body }).toMatchObject({ status: 200, body: { status: 'completed' } });
    expect(await slotsOf(request)).toHaveLength(1);
  });

  test('a long poll treats a request as missing only after a strongly consistent read', async () => {
    const request = await newRequest();
    const reads = onRead(async () => 'missed');
    const { status, body } = await invoke(request, 4_000);
    expect({ status, body }).toEqual({ status: 200, body: PENDING });
    expect(reads.length).toBeGreaterThan(4);
    // The first and the last read are strongly consistent.
    expect(reads).toEqual([true, ...reads.slice(1, -1).map((_, place) => place % 2 === 1), true]);
  });
});

test('a long poll of 30 seconds returns pending before the gateway times out', async () => {
  const { took, outcome } = await fetchTimed(await newRequest(), { long_poll: '30' });
  expect(outcome).toEqual(PENDING);
  expect(took).toBeGreaterThan(27_000);
});
