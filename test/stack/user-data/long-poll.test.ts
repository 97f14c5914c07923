/** Waiting for a user's answer: how soon it is seen, how a wait ends that nobody answers, and what many of them do to others. */
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

/** A request of a new business that a new user has to answer. */
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

/** Milliseconds that something takes, and what comes of it. */
const timed = async <Outcome>(work: () => Promise<Outcome>): Promise<{ took: number; outcome: Outcome }> => {
  const start = performance.now();
  const outcome = await work();
  return { took: performance.now() - start, outcome };
};

const asking = ({ token, id }: Request, query: { long_poll?: string }) => ({ token, path: { id }, query });

/** Waits through the front door. */
const waited = (request: Request, query: { long_poll?: string }) =>
  timed(async () => (await call('fetchUserData', asking(request, query))).body);

/**
 * Waits through the front door as clients do: where the service is busy, again, after as long as it says. So many on one
 * small machine may have it be.
 */
const waitedPatiently = async (request: Request): Promise<unknown> => {
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

/** Begun before all tests, so that they take place meanwhile. */
let longest: ReturnType<typeof waited>;

beforeAll(async () => {
  longest = waited(await newRequest(), { long_poll: '30' });
  // Told to the test that awaits it.
  longest.catch(() => undefined);
});

/** First, so that the longest wait ends in peace. */
test('two hundred who wait at once are all answered, and so is everybody else meanwhile', {
  tags: 'long',
}, async () => {
  const request = await newRequest();
  const { token } = await newVendor();
  const waits = Promise.all(Array.from({ length: 200 }, () => waitedPatiently(request)));
  let over = false;
  const noteEnd = () => {
    over = true;
  };
  // Whatever fails is told where they are awaited.
  void waits.then(noteEnd, noteEnd);
  // Long enough for all to be waiting.
  for (let others = 0; others < 20; others += 1) {
    // A small machine that starts two hundred functions may be busy at first, which clients retry.
    await expect.poll(async () => (await sendRaw('listProfilers', { token })).status, { interval: 1_000 }).toBe(200);
    await pause(200);
  }
  expect(over).toBe(false);
  await answer(request, { first_name: 'denied' });
  expect(await waits).toEqual(Array(200).fill({ status: 'completed', results: { first_name: { status: 'denied' } } }));
});

describe('a wait', () => {
  test('goes on until the last property is answered, and ends then', async () => {
    const request = await newRequest('first_name', 'last_name');
    const waiting = waited(request, { long_poll: '20' });
    // By now it looks as seldom as it ever does.
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

  test('of one second ends after one, with pending', async () => {
    const { took, outcome } = await waited(await newRequest(), { long_poll: '1' });
    expect(outcome).toEqual(PENDING);
    expect(took).toBeGreaterThan(990);
  });

  test('ends with 404 when the request is erased meanwhile', async () => {
    const request = await newRequest();
    const waiting = timed(() => fail('fetchUserData', asking(request, { long_poll: '20' })));
    await pause(500);
    await report('user.removed', { phone_number: request.phone });
    const { took, outcome } = await waiting;
    expect(outcome.body).toMatchObject({ status: 404, code: 'request_not_found' });
    expect(took).toBeGreaterThan(490);
  });

  test('ends with 404 when the request expires meanwhile', async () => {
    const request = await newRequest();
    const expiry = Math.ceil(Date.now() / 1_000) + 2;
    await update({
      Key: requestKey(request.id),
      UpdateExpression: 'SET expires_at = :expiry',
      ExpressionAttributeValues: { ':expiry': expiry },
    });
    const { body } = await fail('fetchUserData', asking(request, { long_poll: '20' }));
    expect(body).toMatchObject({ status: 404, code: 'request_not_found' });
    expect(Date.now()).toBeGreaterThanOrEqual(expiry * 1_000);
  });
});

describe('a function', () => {
  /** Calls it in this process, with so many milliseconds left. */
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

  /** Has reads of the table go through this, until the test is over. Answers how they were asked for. */
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

  test('that is about to time out answers pending before', async () => {
    const request = await newRequest();
    const { took, status, body } = await invoke(request, 2_500);
    expect({ status, body }).toEqual({ status: 200, body: PENDING });
    // Half a second is kept for the last look, and half a second to say that it took too long.
    expect(took).toBeGreaterThan(1_400);
  });

  test.each<[string, number, { long_poll?: string }]>([
    ['is not asked to wait', 29_000, {}],
    ['is asked to wait for no time', 29_000, { long_poll: '0' }],
    ['has next to no time left', 990, { long_poll: '30' }],
  ])('that %s looks once', async (_, left, query) => {
    const request = await newRequest();
    const reads = onRead(async () => 'found');
    const { status, body } = await invoke(request, left, query);
    expect({ status, body, reads }).toEqual({ status: 200, body: PENDING, reads: [true] });
  });

  test('that is about to time out does not wait for a table that hangs', async () => {
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
    ['in some looks goes on looking', (place) => place === 2 || place === 4, 200],
    ['in all looks but the first answers pending', (place) => place > 1, 200],
    ['in all looks is unavailable at its end', () => true, 503],
  ])('that meets a busy table %s', async (_, isBusy, expected) => {
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

  test('that does not find the request any more looks for it consistently, before it says so', async () => {
    const request = await newRequest();
    const reads = onRead(async () => 'missed');
    const { status, body } = await invoke(request, 4_000);
    expect({ status, body }).toEqual({ status: 200, body: PENDING });
    expect(reads.length).toBeGreaterThan(4);
    // The first look, and the last one, see the latest at once.
    expect(reads).toEqual([true, ...reads.slice(1, -1).map((_, place) => place % 2 === 1), true]);
  });
});

test('the longest wait ends with pending, before the gateway gives up', async () => {
  const { took, outcome } = await longest;
  expect(outcome).toEqual(PENDING);
  expect(took).toBeGreaterThan(27_000);
});
