/** Traces of the local stack, from plain records: which calls and lines belong together, and what became of them. */
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { Board } from '../../infra/local/phone/traces/board.ts';
import { callOf, callTo } from '../../infra/local/phone/traces/record/capture.ts';
import { traceOf } from '../../infra/local/phone/traces/record/link.ts';
import { TraceStore } from '../../infra/local/phone/traces/record/store.ts';
import { filtersIn } from '../../infra/local/phone/traces/select.ts';
import type { Server } from '../../infra/local/phone/traces/views.ts';

const PHONE = '27821234567';
const BOTS = [
  { id: 'demo', name: 'Demo', number: '447700900000', platform: 'RapidPro' },
  { id: 'demo-turn', name: 'Demo on Turn', number: '447700900010', platform: 'Turn' },
];
const START = Date.parse('2026-11-22T10:00:00Z');

type Pending = Awaited<ReturnType<NonNullable<ConstructorParameters<typeof Board>[1]['pending']>>>;

/** A store, with functions that add records as the stack produces them; each takes the milliseconds since the start. */
const record = () => {
  const store = new TraceStore();
  const pending: Pending = [];
  const onOutdated = vi.fn<() => void>();
  const names = { person: (phone: string | null) => (phone === PHONE ? 'Thandi' : 'a user'), business: () => 'Demo' };
  const board = new Board(store, { bots: BOTS, names, pending: async () => [...pending], onOutdated });
  const request = (
    id: string,
    path: string,
    {
      body = {},
      status = 200,
      response = {},
      account = 'demo',
      headers = {},
      after = 0,
      route = `POST ${path}`,
    }: Partial<RequestRecord> = {},
  ) =>
    store.addCall(
      callOf({
        requestId: id,
        time: START + after,
        ms: 20,
        method: 'POST',
        url: path,
        headers: {
          host: 'h',
          'content-type': typeof body === 'string' ? 'application/x-www-form-urlencoded' : 'application/json',
          ...headers,
        },
        body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
        routeKey: route,
        context: { account },
        status,
        responseHeaders: { 'content-type': 'application/json' },
        responseBody: JSON.stringify(response),
      }),
    );
  const line = (message: string, fields: object, after = 0) =>
    store.addLine({ level: 'info', message, ...fields, _aws: { Timestamp: START + after } });
  const deliver = (server: Server, path: string, body: object | string, status: number | null = 204, after = 0) => {
    const isForm = typeof body === 'string';
    const call = callTo(server, {
      time: START + after,
      ms: 5,
      method: 'POST',
      url: path,
      headers: {
        host: 'h',
        'content-type': isForm ? 'application/x-www-form-urlencoded' : 'application/json',
        authorization: 'Bearer secret',
      },
      body: Buffer.from(isForm ? body : JSON.stringify(body)),
      response: status === null ? null : { status, headers: {}, body: '' },
    });
    store.addDelivery(call, traceOf(call, store));
  };
  /** The listed rows, by the filters in a query. */
  const rows = async (query: Record<string, string> = {}) => (await board.list(filtersIn(query), false)).rows;
  return { store, board, request, line, deliver, rows, pending, onOutdated };
};

interface RequestRecord {
  body: object | string;
  status: number;
  response: object;
  account: string;
  headers: Record<string, string>;
  after: number;
  route: string;
}

const text = { to: PHONE, type: 'text', text: { body: 'Hello' } };

/** A message to the user, up to its queue. */
const sendMessage = ({ line, request }: ReturnType<typeof record>, after = 0) => {
  line('accepted', { trace_id: 't1', type: 'message.send', account: 'demo', message_id: 'm1' }, after + 10);
  request('t1', '/v1/message', { body: text, response: { id: 'm1' }, after });
  line('relay', { trace_id: 'w1', trace_ids: ['t1'] }, after + 15);
};

const state = (name: string) => ({ id: `e-${name}`, type: 'message.state', data: { id: 'm1', state: name } });

describe('a message to a user', () => {
  test('has one trace from its request to the report that it was read, found by any of its ids', async () => {
    const at = record();
    sendMessage(at);
    at.deliver('app', '/app', { type: 'message.send', data: { id: 'm1', ...text } }, 503, 20);
    at.deliver('app', '/app', { type: 'message.send', data: { id: 'm1', ...text } }, 204, 1_500);
    at.line('delivered', { trace_id: 't1', type: 'message.send', account: 'demo', message_id: 'm1' }, 1_510);
    at.request('t2', '/v1/app/events', {
      body: state('delivered_to_user'),
      status: 204,
      account: 'app-network',
      after: 1_600,
    });
    at.request('t4', '/v1/app/events', {
      body: state('delivered_to_user'),
      status: 204,
      account: 'app-network',
      after: 1_650,
    });
    at.request('t3', '/v1/app/events', { body: [state('read')], status: 204, account: 'app-network', after: 1_700 });
    const view = await at.board.view('m1');
    expect(view).toMatchObject({
      id: 't1',
      title: 'Message to Thandi',
      preview: 'Hello',
      outcome: { words: 'Read', tone: 'ok' },
      stages: ['done', 'done', 'done', 'done', 'done'],
      subject: { kind: 'Message', id: 'm1' },
      business: { name: 'Demo', number: '447700900000' },
      tookMs: 1_510,
      readMs: 1_700,
      fixed: null,
    });
    expect(view?.steps.map(({ title, state: how, status }) => [title, how, status])).toEqual([
      ['Accepted', 'done', 200],
      ['Stored', 'done', undefined],
      ['Queued', 'done', undefined],
      ['Attempt 1', 'failed', 503],
      ['Attempt 2', 'done', 204],
      ['Delivered to server', 'done', undefined],
      ['Delivered to user', 'done', undefined],
      ['Read', 'done', undefined],
    ]);
    expect(await at.board.view('t1')).toEqual(view);
  });

  test('is viewed again if its retry was scheduled within a second of an earlier view', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const at = record();
    sendMessage(at);
    const conversation = {
      direction: 'app',
      account: 'demo',
      phone: PHONE,
      since: '',
      failed: 0,
      entries: 1,
      more: false,
    } as const;
    at.pending.push(conversation);
    const outcome = async () => (await at.rows())[0]?.outcome;
    expect(await outcome()).toMatchObject({ words: 'Pending' });
    at.pending[0] = { ...conversation, next: '2026-11-22T10:01:00.000000' };
    at.line(
      'retry scheduled',
      { trace_id: 't1', type: 'message.send', account: 'demo', message_id: 'm1', attempts: 1 },
      900,
    );
    expect(await outcome()).toMatchObject({ words: 'Retry scheduled', retryAt: null });
    vi.advanceTimersByTime(1_001);
    expect(at.onOutdated).toHaveBeenCalledOnce();
    expect(await outcome()).toMatchObject({ retryAt: START + 60_000 });
    expect(await outcome()).toMatchObject({ retryAt: START + 60_000 });
    vi.advanceTimersByTime(10_000);
    expect(at.onOutdated).toHaveBeenCalledOnce();
  });

  test('was queued by the endpoint if its first attempt is earlier than relay', async () => {
    const at = record();
    at.line('accepted', { trace_id: 't1', type: 'message.send', account: 'demo', message_id: 'm1' }, 10);
    at.request('t1', '/v1/message', { body: text, response: { id: 'm1' } });
    at.deliver('app', '/app', { type: 'message.send', data: { id: 'm1', ...text } }, 204, 40);
    const steps = async () => (await at.board.view('m1'))?.steps.map(({ title }) => title);
    const earlier = await steps();
    at.line('relay', { trace_id: 'w1', trace_ids: ['t1'] }, 250);
    expect([earlier, await steps()]).toEqual([
      ['Accepted', 'Stored', 'Queued', 'Attempt 1', 'Delivered to server'],
      ['Accepted', 'Stored', 'Queued', 'Attempt 1', 'Delivered to server'],
    ]);
  });

  test.each([
    [{ message: 'permanently failed', cause: 'status_404', reason: 'status_4xx' }, 'Refused'],
    [{ message: 'ended early', reason: 'expired' }, 'Expired'],
    [{ message: 'ended early', reason: 'opted_out' }, 'Stopped by the user'],
  ])('that is not delivered has the words for %o', async ({ message, ...fields }, words) => {
    const at = record();
    sendMessage(at);
    at.line(message, { trace_id: 't1', type: 'message.send', message_id: 'm1', ...fields }, 30);
    expect(await at.rows()).toMatchObject([
      {
        outcome: { words, tone: 'bad' },
        isFailed: true,
        isPending: false,
        stages: ['done', 'done', 'done', 'failed', 'empty'],
      },
    ]);
  });
});

describe('a message from a user', () => {
  const written = (id: string, body: string) => ({
    id,
    type: 'message.received',
    data: { from: PHONE, to: '447700900000', type: 'text', text: { body } },
  });
  const write = ({ line, request }: ReturnType<typeof record>, trace: string, after: number) => {
    line('accepted', { trace_id: trace, type: 'message.received', account: 'demo', message_id: `m-${trace}` }, after);
    request(trace, '/v1/app/events', {
      body: written(`e-${trace}`, 'Yes'),
      status: 204,
      account: 'app-network',
      after,
    });
  };

  test('is delivered to RapidPro, whose calls have no id: equal texts are delivered in order', async () => {
    const at = record();
    write(at, 't1', 0);
    write(at, 't2', 100);
    const form = `from=%2B${PHONE}&text=Yes&date=2026`;
    at.deliver('rapidpro', '/c/ex/demo/receive', form, 200, 200);
    at.line('delivered', { trace_id: 't1', type: 'message.received', message_id: 'm-t1' }, 205);
    at.deliver('rapidpro', '/c/ex/demo/receive', form, 500, 4_200);
    const rows = await at.rows();
    expect(rows.map(({ id, outcome }) => [id, outcome.words])).toEqual([
      ['t2', 'Pending'],
      ['t1', 'Delivered'],
    ]);
    const attempts = async (id: string) =>
      (await at.board.view(id))?.steps.filter(({ title }) => title.startsWith('Attempt')).map(({ status }) => status);
    expect([await attempts('t1'), await attempts('e-t2')]).toEqual([[200], [500]]);
  });

  test("is the cause of the platform's message that follows; reports to the platform belong to that message", async () => {
    const at = record();
    write(at, 't1', 0);
    at.line('accepted', { trace_id: 't2', type: 'message.send', account: 'demo', message_id: 'm2' }, 500);
    at.request('t2', '/v1/webhook/rapidpro/', { body: `id=77&text=Thanks&to_no_plus=${PHONE}`, after: 490 });
    at.deliver(
      'app',
      '/app',
      { type: 'message.send', data: { id: 'm2', to: PHONE, type: 'text', text: { body: 'Thanks' } } },
      204,
      520,
    );
    at.deliver('rapidpro', '/c/ex/demo/sent', 'id=77', 200, 600);
    const view = await at.board.view('t2');
    expect(view).toMatchObject({ title: 'Message to Thandi', preview: 'Thanks' });
    expect(view?.steps[0]).toMatchObject({ note: 'RapidPro sent it after “Yes”.', trace: 't1' });
    expect(view?.steps.find(({ title }) => title === 'RapidPro notified')).toMatchObject({ code: 'sent', status: 200 });
  });
});

test('a consent request waits until the user has answered, and the answer is a trace of its own', async () => {
  const at = record();
  at.line('accepted', { trace_id: 't1', type: 'user_data.request', account: 'demo', user_data_request_id: 'r1' });
  at.request('t1', `/v1/user_data/start/${PHONE}`, {
    body: { reason: 'To greet you' },
    response: { requestId: 'r1' },
    route: 'POST /v1/user_data/start/{phone_number}',
  });
  at.line('delivered', { trace_id: 't1', type: 'user_data.request', user_data_request_id: 'r1' }, 30);
  expect(await at.rows()).toMatchObject([
    { title: 'Consent request to Thandi', preview: '“To greet you”', kind: 'consent', outcome: { words: 'Waiting' } },
  ]);
  const answers = { first_name: 'approved', last_name: 'denied' };
  const body = { id: 'e1', type: 'user_data.answered', data: { id: 'r1', answers } };
  at.request('t2', '/v1/app/events', { body, status: 204, account: 'app-network', after: 90 });
  expect(await at.rows()).toMatchObject([
    {
      title: 'Consent answered by Thandi',
      preview: 'Demo: first name, last name',
      stages: null,
      outcome: { words: '204' },
    },
    { outcome: { words: 'Denied 1 of 2' }, stages: ['done', 'done', 'done', 'done', 'done'] },
  ]);
});

test('a campaign is one trace with its count of deliveries, which each of its messages leads to', async () => {
  const at = record();
  const to = Array.from({ length: 150 }, (_, place) => `2782000${1_000 + place}`);
  at.line('batch accepted', { trace_id: 't1', account: 'demo', batch_id: 'b1', job_id: 'j1', messages: 150 });
  at.request('t1', '/v1/message', { body: { ...text, to }, response: { job_id: 'j1', messages: 150 } });
  for (const [place, phone] of to.entries()) {
    const message = { trace_id: 't1', type: 'message.send', account: 'demo', message_id: `m${place}` };
    at.line('accepted', message, 20);
    at.deliver('app', '/app', { type: 'message.send', data: { id: `m${place}`, ...text, to: phone } }, 204, 30 + place);
    at.line(place === 0 ? 'permanently failed' : 'delivered', message, 40);
  }
  const view = await at.board.view('m149');
  expect(view).toMatchObject({
    id: 't1',
    title: 'Job of 150 messages',
    phone: null,
    subject: { kind: 'Job', id: 'j1' },
    outcome: { words: '149 of 150' },
    isPending: false,
  });
  expect(view?.steps.at(-1)).toMatchObject({ title: 'Delivery', detail: 'to …1149', status: 204 });
  expect(view?.steps.filter(({ title }) => title === 'Delivery')).toHaveLength(100);
  expect(await at.rows({ q: 'm148' })).toMatchObject([{ id: 't1' }]);
});

test.each([
  ['in one request without a batch', { job_id: 'j1', messages: 2 }],
  ['in a list', { job_id: 'j1', messages: [{ id: 'm1' }, { id: 'm2' }] }],
])('few messages %s are a job, too', async (_, response) => {
  const at = record();
  at.request('t1', '/v1/message', { body: { ...text, to: [PHONE, '27820001001'] }, response });
  at.line('accepted', { trace_id: 't1', type: 'message.send', account: 'demo', message_id: 'm1', job_id: 'j1' });
  at.line('delivered', { trace_id: 't1', type: 'message.send', message_id: 'm1' });
  expect(await at.board.view('j1')).toMatchObject({
    title: 'Job of 2 messages',
    subject: { kind: 'Job', id: 'j1' },
    outcome: { words: '1 of 2' },
    isPending: true,
  });
});

test('a scheduled message to one user is no job', async () => {
  const at = record();
  at.line('batch accepted', { trace_id: 't1', account: 'demo', batch_id: 'b1', job_id: 'j1', messages: 1 });
  at.request('t1', '/v1/message', { body: text, response: { id: 'm1' } });
  at.line('accepted', { trace_id: 't1', type: 'message.send', account: 'demo', message_id: 'm1', job_id: 'j1' });
  expect(await at.board.view('m1')).toMatchObject({
    title: 'Message to Thandi',
    subject: { kind: 'Message', id: 'm1' },
  });
});

test('a rejected request has its validation errors as preview, and no stages', async () => {
  const at = record();
  const errors = [
    { pointer: '#/to', detail: 'x' },
    { pointer: '#/quick_replies/10', detail: 'y' },
  ];
  at.request('t1', '/v1/message', { status: 422, response: { detail: 'Invalid.', errors } });
  expect(await at.rows()).toMatchObject([
    {
      title: 'POST /v1/message',
      preview: '2 validation errors: to, quick_replies/10',
      isFailed: true,
      stages: null,
      outcome: { words: '422', tone: 'bad' },
    },
  ]);
  expect((await at.board.view('t1'))?.steps).toMatchObject([{ title: 'Rejected', state: 'failed', status: 422 }]);
});

test('no record contains a token, in a header or in the URL that Turn posts to', () => {
  const at = record();
  at.request('t1', '/v1/webhook/turn/c2VjcmV0', {
    headers: { authorization: 'Bearer secret', cookie: 'a=secret' },
    route: 'POST /v1/webhook/turn/{encoded_token}',
  });
  at.deliver('turn', '/v1/numbers/demo/messages', {});
  const kept = JSON.stringify([at.store.find('t1')?.call, at.store.otherCalls]);
  expect(kept).not.toMatch(/secret|c2VjcmV0/);
  expect(kept).toContain('/v1/webhook/turn/$TOKEN');
  expect(kept).toContain('Bearer $TOKEN');
});

describe('the store', () => {
  const send = (at: ReturnType<typeof record>, id: string, to: string) => {
    at.line('accepted', { trace_id: id, type: 'message.send', account: 'demo', message_id: `m-${id}` });
    at.request(id, '/v1/message', { body: { ...text, to }, response: { id: `m-${id}` } });
    at.deliver('app', '/app', { type: 'message.send', data: { id: `m-${id}`, ...text, to } });
    at.line('delivered', { trace_id: id, type: 'message.send', message_id: `m-${id}` }, 30);
  };
  /** 1,000 messages to as many users, whose phones report in requests of 100 messages and each in its own. */
  const campaign = (at: ReturnType<typeof record>) => {
    for (let number = 0; number < 1_000; number += 1) send(at, `c${number}`, `2782000${1_000 + number}`);
    for (let number = 0; number < 1_000; number += 1) {
      const body = [{ ...state('read'), data: { id: `m-c${number}`, state: 'read' } }];
      at.store.addOwnEvent('e-read');
      at.request(`r${number}`, '/v1/app/events', { body, status: 204, account: 'app-network' });
    }
  };

  test('keeps the traces of a user and of a route while a campaign adds thousands of others', async () => {
    const at = record();
    sendMessage(at);
    at.deliver('app', '/app', { type: 'message.send', data: { id: 'm1', ...text } }, 204, 20);
    at.request('t9', '/v1/research_profilers', { response: { profiler_id: 'p1' } });
    at.deliver('turn', '/v1/numbers/demo/messages', {});
    campaign(at);
    expect((await at.board.view('m1'))?.steps.map(({ title }) => title)).toContain('Attempt 1');
    expect(await at.rows({ of: PHONE })).toMatchObject([{ id: 't1', title: 'Message to Thandi' }]);
    expect(await at.rows({ kind: 'profilers' })).toMatchObject([{ id: 't9' }]);
    expect(at.board.calls(filtersIn({ of: PHONE }), false).rows).toMatchObject([
      { server: 'app' },
      { server: 'service' },
    ]);
    expect(at.store.lastCallsOf('turn')).toHaveLength(1);
    const { rows, found, own, deliveryMs } = await at.board.list(filtersIn({}), false);
    expect([rows.length, found, own, deliveryMs.length]).toEqual([250, 1_002, 100, 40]);
  });

  test('hides the requests in which the app network reports states by itself, and counts the states of each', async () => {
    const at = record();
    const events = ['delivered_to_user', 'read', 'read'].map((name, place) => ({ ...state(name), id: `e${place}` }));
    at.request('t1', '/v1/app/events', { body: events, status: 204, account: 'app-network' });
    expect(await at.rows()).toMatchObject([{ title: '3 states reported', preview: 'delivered_to_user, read' }]);
    for (const { id } of events) at.store.addOwnEvent(id);
    at.request('t2', '/v1/app/events', { body: events, status: 204, account: 'app-network' });
    expect(await at.board.list(filtersIn({}), false)).toMatchObject({ rows: [{ id: 't1' }], found: 1, own: 1 });
  });

  test('keeps the last 100 traces of a user, and remembers which of the messages were delivered', () => {
    const at = record();
    for (let number = 0; number < 110; number += 1) {
      const data = { from: PHONE, to: '447700900000', type: 'text', text: { body: 'Yes' } };
      const body = { id: `e${number}`, type: 'message.received', data };
      at.request(`t${number}`, '/v1/app/events', { body, status: 204, account: 'app-network' });
      at.line('delivered', { trace_id: `t${number}`, type: 'message.received' });
    }
    expect([at.store.traces.length, at.store.find('t9'), at.store.find('t10')?.id]).toEqual([100, undefined, 't10']);
    expect([at.store.isDelivered('e0'), at.store.isDelivered('e109'), at.store.isDelivered('e110')]).toEqual([
      true,
      true,
      false,
    ]);
  });

  test('keeps at most 100 MB', { tags: 'long' }, () => {
    const at = record();
    const body = 'x'.repeat(60_000);
    for (let number = 0; number < 1_800; number += 1) {
      at.request(`big${number}`, '/v1/message', { body: { ...text, to: `2782000${1_000 + number}`, reference: body } });
    }
    expect(at.store.traces.length).toBeGreaterThan(1_500);
    expect(at.store.traces.length).toBeLessThan(1_700);
    at.store.clear();
    expect(at.store.traces).toEqual([]);
  });
});
