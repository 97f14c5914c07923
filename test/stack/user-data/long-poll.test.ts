/** Long polls for a user's answer: their duration, their end without an answer, and the effect of many at once. */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Context } from 'aws-lambda';
import { beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { handler } from '../../../functions/user-data/fetch-user-data.ts';
import type { HttpEvent } from '../../../shared/http/event.ts';
import { documents, update } from '../../../shared/table/client.ts';
import { requestKey } from '../../../shared/table/keys.ts';
import type { PropertyName } from '../../../shared/users/profile-properties.ts';
import { captureLog } from '../../support/captured-log.ts';
import { call, fail, sendRaw } from '../support/client.ts';
import { type Caller, newCaller, newPhone, newVendor } from '../support/world.ts';

const { app_token } = inject('stack');

captureLog();

const PROPERTIES = {
  first_name: { value: 'Thandi', source: 'user' },
  last_name: { value: 'Zoë', source: 'user' },
};

const PENDING = { status: 'pending', results: {} };

const report = (type: string, data: object) =>
  call('receiveAppEvents', { token: app_token, body: { id: randomUUID(), type, data } });

interface Request extends Caller {
  id: string;
  phone: string;
}

/** Starts a request of a new business to a new user. The request is pending. */
const newRequest = async (...properties: PropertyName[]): Promise<Request> => {
  const phone = newPhone();
  await report('user.updated', { phone_number: phone, properties: PROPERTIES });
  const caller = await newCaller('user_data');
  const asked = properties.length === 0 ? (['first_name'] as const) : properties;
  const body = { reason: 'To open your account', data: asked.map((property) => ({ property })) };
  const started = await call('startUserDataRequest', { token: caller.token, path: { phone_number: phone }, body });
  return { ...caller, phone, id: started.body.requestId };
};

const answer = ({ id }: Request, answers: Partial<Record<PropertyName, 'approved' | 'denied'>>) =>
  report('user_data.answered', { id, answers });

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

/** Long-polls over HTTP and retries after `Retry-After`, because 200 long polls can overload a small machine. */
const longPollWithRetry = async (request: Request): Promise<unknown> => {
  for (;;) {
    const { headers, body } = await sendRaw('fetchUserData', {
      token: request.token,
      path: { id: request.id },
      query: 'long_poll=30',
    });
    const seconds = headers.get('retry-after');
    if (seconds === null) return body;
    await pause(Number(seconds) * 1_000);
  }
};

/** The longest long poll starts before all tests and runs in parallel with them. */
let longest: ReturnType<typeof fetchTimed>;

beforeAll(async () => {
  longest = fetchTimed(await newRequest(), { long_poll: '30' });
  // The test that awaits this promise reports its error.
  longest.catch(() => undefined);
});

/** This test runs first, so that its load does not meet the end of the longest long poll. */
test('200 simultaneous long polls all return the answer, and other requests succeed meanwhile', {
  tags: 'long',
}, async () => {
  const request = await newRequest();
  const { token } = await newVendor();
  const waits = Promise.all(Array.from({ length: 200 }, () => longPollWithRetry(request)));
  let over = false;
  const noteEnd = () => {
    over = true;
  };
  // A failure is reported below, where the long polls are awaited.
  void waits.then(noteEnd, noteEnd);
  // Long enough that all long polls are in progress.
  for (let others = 0; others < 20; others += 1) {
    // A small machine that starts 200 functions may be busy at first. Clients retry a busy response.
    await expect.poll(async () => (await sendRaw('listProfilers', { token })).status, { interval: 1_000 }).toBe(200);
    await pause(200);
  }
  expect(over).toBe(false);
  await answer(request, { first_name: 'denied' });
  expect(await waits).toEqual(Array(200).fill({ status: 'completed', results: { first_name: { status: 'denied' } } }));
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

  test('a long poll of one second returns pending after one second', async () => {
    const { took, outcome } = await fetchTimed(await newRequest(), { long_poll: '1' });
    expect(outcome).toEqual(PENDING);
    expect(took).toBeGreaterThan(990);
  });

  test('a long poll returns 404 when the request is erased meanwhile', async () => {
    const request = await newRequest();
    const waiting = timed(() => fail('fetchUserData', fetchOf(request, { long_poll: '20' })));
    await pause(500);
    await report('user.removed', { phone_number: request.phone });
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
  /** Invokes the handler in this process, with `left` milliseconds until its timeout. */
  const invoke = async (
    { account, tokenId, id }: Request,
    left: number,
    queryStringParameters: { long_poll?: string } = { long_poll: '30' },
  ) => {
    const deadline = Date.now() + left;
    const lambda = { account, token: tokenId, permissions: ['user_data'] };
    const event = {
      routeKey: 'GET /v1/user_data/fetch/{id}',
      headers: {},
      pathParameters: { id },
      queryStringParameters,
      requestContext: { requestId: 'request-1', authorizer: { lambda } },
    };
    const context = { getRemainingTimeInMillis: () => deadline - Date.now() };
    const { took, outcome } = await timed(() => handler(event as unknown as HttpEvent, context as Context));
    return { took, status: outcome.statusCode, body: JSON.parse(outcome.body ?? '') };
  };

  /** Intercepts reads of the table until the test ends. Returns for each read whether it was strongly consistent. */
  const onRead = (meanwhile: (place: number) => Promise<'missed' | 'found'>): boolean[] => {
    const reads: boolean[] = [];
    documents.middlewareStack.add(
      (next, { commandName }) =>
        async (args) => {
          if (commandName !== 'GetItemCommand') return next(args);
          const isConsistent = (args.input as { ConsistentRead?: boolean }).ConsistentRead === true;
          reads.push(isConsistent);
          const what = await meanwhile(reads.length);
          const result = await next(args);
          if (what === 'missed' && !isConsistent) Object.assign(result.output, { Item: undefined });
          return result;
        },
      { name: 'on-read', step: 'initialize' },
    );
    onTestFinished(() => void documents.middlewareStack.remove('on-read'));
    return reads;
  };

  test('the handler returns pending before it times out', async () => {
    const request = await newRequest();
    const { took, status, body } = await invoke(request, 2_500);
    expect({ status, body }).toEqual({ status: 200, body: PENDING });
    // Half a second is reserved for the last read, and half a second for the response.
    expect(took).toBeGreaterThan(1_400);
  });

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
    const { status, body } = await invoke(request, 4_000);
    expect({ status, body }).toEqual({ status: 200, body: PENDING });
    expect(reads).toHaveLength(4);
  });

  test.each<[string, (place: number) => boolean, number]>([
    ['some reads continues and returns pending', (place) => place === 2 || place === 4, 200],
    ['all reads but the first returns pending', (place) => place > 1, 200],
    ['all reads returns 503 at its end', () => true, 503],
  ])('a long poll with a busy table in %s', async (_, isBusy, expected) => {
    const request = await newRequest();
    const reads = onRead(async (place) => {
      if (isBusy(place)) throw Object.assign(new Error('busy'), { name: 'ThrottlingException' });
      return 'found';
    });
    const { took, status, body } = await invoke(request, 3_000);
    expect({ status, body }).toMatchObject({ status: expected, body: expected === 200 ? PENDING : { status: 503 } });
    expect(reads.length).toBeGreaterThan(4);
    expect(took).toBeGreaterThan(1_900);
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
  const { took, outcome } = await longest;
  expect(outcome).toEqual(PENDING);
  expect(took).toBeGreaterThan(27_000);
});
