import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { expect, inject, onTestFinished, test } from 'vitest';
import { updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { mintToken } from '../../../../shared/accounts/tokens.ts';
import { sortableTime } from '../../../../shared/core/clock.ts';
import { erasureKey } from '../../../../shared/messaging/entities.ts';
import { conversationName, headKey } from '../../../../shared/outbox/entities.ts';
import { getConsistent, update } from '../../../../shared/table/client.ts';
import { setFaultRules } from '../../../support/fault-rules.ts';
import { call, fail, sendRaw } from '../../support/client.ts';
import { DestinationServer } from '../../support/destination-server.ts';
import { logLines } from '../../support/log-lines.ts';
import { untilShown, write } from '../../support/phones.ts';
import { newCaller, newMedia, newPanelist, newPhone, newVendor } from '../../support/world.ts';

const { app_token, phone_url, bridge_url } = inject('stack');

/** Waits until the gateway has logged a request. Returns all lines of the request. */
const linesOf = async (requestId: string | null) => {
  const found = async () => (await logLines()).filter(({ line }) => line.trace_id === requestId);
  await expect.poll(async () => (await found()).some(({ line }) => 'function_ms' in line)).toBe(true);
  return found();
};

/** The same, and waits for the line of the request's function, which may come later. */
const functionLinesOf = async (requestId: string | null) => {
  await expect.poll(async () => (await linesOf(requestId)).some(({ line }) => line.message === 'request')).toBe(true);
  return linesOf(requestId);
};

test('a request is one log line of its function, with trace, route, account, status and milliseconds', async () => {
  const { account, token } = await newVendor();
  const { headers } = await call('listProfilers', { token });
  const written = (await functionLinesOf(headers.get('apigw-requestid'))).filter(({ source }) =>
    source.startsWith('ListProfilers'),
  );
  expect(written.map(({ line }) => line)).toEqual([
    {
      level: 'info',
      message: 'request',
      trace_id: headers.get('apigw-requestid'),
      route: 'GET /v1/research_profilers',
      account,
      status: 200,
      outcome: 'succeeded',
      requests: 1,
      request_ms: expect.any(Number),
      _aws: expect.any(Object),
    },
  ]);
});

test('a rejected request is logged with the status of its problem', async () => {
  const { account, token } = await newVendor();
  const { headers } = await fail('readProfiler', { token, path: { id: 'x' } });
  const written = await functionLinesOf(headers.get('apigw-requestid'));
  expect(written.map(({ line }) => line)).toContainEqual(
    expect.objectContaining({ message: 'request', account, status: 404 }),
  );
});

test('no log line contains a token, a phone number, a text or an id from a path', async () => {
  const { token, account } = await newVendor();
  const phone = await newPanelist();
  const stranger = newPhone();
  const words = {
    question: `question-${randomUUID()}`,
    option: `option-${randomUUID()}`,
    path: `path-${randomUUID()}`,
  };
  const json = { 'content-type': 'application/json' };

  const { body } = await call('createProfiler', {
    token,
    body: { question: words.question, options: [words.option, 'no'] },
  });
  const answer = { profiler_id: body.profiler_id, option_id: body.options.no ?? '', phone_number: phone };
  await call('answerProfiler', { token, body: answer });
  await fail('answerProfiler', { token, body: { ...answer, option_id: body.options[words.option] ?? '' } });
  await fail('answerProfiler', { token, body: { ...answer, phone_number: stranger } });
  await fail('readProfiler', { token, path: { id: words.path } });
  await sendRaw('readProfiler', { token: `${token}-mistyped`, path: { id: words.path } });
  await sendRaw('createProfiler', { token, headers: json, body: `{"question":"${words.question}"` });
  const last = await sendRaw('createProfiler', { token, headers: json, body: `{"options":["${words.option}"]}` });
  await linesOf(last.headers.get('apigw-requestid'));

  const written = await readFile(inject('stack').log, 'utf8');
  expect(written).toContain(account);
  for (const secret of [token, token.slice(5, 40), phone, stranger, ...Object.values(words)]) {
    expect(written).not.toContain(secret);
  }
});

/** Gives an account a webhook with a unique URL and secret. */
const giveWebhook = async (account: string) => {
  const destination = await DestinationServer.start();
  onTestFinished(() => destination.close());
  const key = randomUUID();
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const settings = { url: `${destination.url}?key=${key}`, secret };
  await updateAccount(account, { platform: { name: 'webhook', settings } });
  return { destination, key, secret };
};

/** The app network rejects messages to one phone with 400, and returns 503 once to those to another phone. */
const haveAppFail = async (rejected: string, delayed: string): Promise<void> => {
  await setFaultRules(phone_url, rejected, { status: 400 });
  await setFaultRules(phone_url, delayed, { status: 503, retry_after: 1, times: 1 });
};

/** What has failed in the deliveries of an account, as the log has it. */
const failuresOf = async (account: string): Promise<string[]> =>
  (await logLines())
    .filter(
      ({ line }) => line.account === account && /^(retry scheduled|permanently failed)$/.test(String(line.message)),
    )
    .map(({ source, line: { message, type, cause } }) => `${source.slice(0, 7)} ${message} ${type} ${cause}`);

/**
 * Moves the first refusal of a user's oldest event an hour back, so that its next refusal is the last one.
 *
 * @returns whether there is such an event
 */
const moveRefusalBack = (account: string, phone: string): Promise<boolean> =>
  update({
    Key: headKey(conversationName({ direction: 'platform', account, phone })),
    UpdateExpression: 'SET refused = :before',
    ConditionExpression: 'attribute_exists(refused)',
    ExpressionAttributeValues: { ':before': sortableTime(Date.now() - 3_600_000) },
  });

/** Waits for these failures. The webhook refuses the oldest event of one user until it fails permanently. */
const untilFailed = async (account: string, refused: string, ...failures: string[]): Promise<void> => {
  await expect
    .poll(
      async () => {
        // Again, if an attempt has ended at the same time.
        await moveRefusalBack(account, refused);
        return failuresOf(account);
      },
      { interval: 500 },
    )
    .toEqual(expect.arrayContaining(failures));
};

test("no log line contains a message's text or phone numbers, or a destination's secret", {
  tags: 'long',
}, async () => {
  const { account, token } = await newCaller('messages', 'stats');
  const bot = newPhone();
  await updateAccount(account, { bot_number: bot });
  const { destination, key, secret } = await giveWebhook(account);
  const [accepted, rejected, delayed, stranger] = [newPhone(), newPhone(), newPhone(), newPhone()];
  const word = (name: string) => `${name}-${randomUUID()}`;
  const words = {
    text: word('text'),
    reply: word('reply'),
    media: await newMedia(account),
    unknown: word('unknown'),
    foreign: word('foreign'),
    idempotency: word('idempotency'),
    received: word('received'),
    lost: word('lost'),
    event: word('event'),
    reason: word('reason'),
    mistyped: word('mistyped'),
  };
  const text = (to: string) => ({
    to,
    type: 'text' as const,
    text: { body: words.text },
    quick_replies: [words.reply],
  });
  const json = { 'content-type': 'application/json' };

  // Messages to users: accepted, rejected and delayed by the app network.
  await haveAppFail(rejected, delayed);
  const headers = { 'idempotency-key': words.idempotency };
  const { body: sent } = await call('sendMessage', { token, headers, body: text(accepted) });
  await call('sendMessage', {
    token,
    body: { to: accepted, type: 'image', image: { url: `${bridge_url}/media/${words.media}` } },
  });
  for (const id of [words.media, words.unknown]) await fetch(`${bridge_url}/media/${id}`, { method: 'HEAD' });
  const { body: failing } = await call('sendMessage', { token, body: text(rejected) });
  const { body: late } = await call('sendMessage', { token, body: text(delayed) });
  await untilShown(accepted, 2);
  await untilShown(delayed, 1);

  // Statuses and messages to the platform: some accepted, one after two failures, and one refused.
  await fetch(`${phone_url}/messages/${sent.id}/states`, {
    method: 'POST',
    body: JSON.stringify({ state: 'delivery_failed', reason: words.reason }),
  });
  const forwarded = () => destination.calls.filter(({ body }) => body.includes(words.received)).length;
  destination.answers = [
    (response) => {
      const body = destination.calls.at(-1)?.body ?? '';
      const fails = body.includes(words.received) && forwarded() < 3;
      response.writeHead(body.includes(words.lost) ? 400 : fails ? 500 : 204).end();
    },
  ];
  await write(accepted, bot, words.received);
  await write(stranger, bot, words.lost);
  await expect.poll(forwarded).toBe(3);

  // Rejected by the service.
  await fail('sendMessage', { token, headers, body: text(stranger) });
  await fail('sendMessage', {
    token,
    body: { to: accepted, type: 'file', file: { url: `https://${words.foreign}/` } },
  });
  await sendRaw('sendMessage', {
    token,
    headers: json,
    body: JSON.stringify({ to: `+${stranger}`, type: words.text }),
  });
  await sendRaw('sendMessage', { token, headers: json, body: `{"to":"${stranger}","text":"${words.text}` });
  await call('listLogs', { token, query: { contact: accepted } });
  await write(stranger, newPhone(), words.lost);
  const events = [
    { id: words.event, type: 'message.received', data: { from: stranger, to: bot, type: words.lost } },
    { id: words.event, type: 'message.state', data: { id: words.mistyped, state: 'read' } },
  ];
  await sendRaw('receiveAppEvents', { token: app_token, headers: json, body: JSON.stringify(events) });
  const last = await sendRaw('receiveAppEvents', {
    token: `${app_token}-x`,
    headers: json,
    body: JSON.stringify(events),
  });
  await linesOf(last.headers.get('apigw-requestid'));

  // The log contains the failures of this test.
  await untilFailed(
    account,
    stranger,
    'Deliver permanently failed message.send status_400',
    'Deliver retry scheduled message.send status_503',
    'Deliver retry scheduled message.received status_500',
    'Deliver retry scheduled message.received status_400',
    'Deliver permanently failed message.received status_400',
  );

  const parts = ['SendMessage', 'ReceiveAppEvents', 'Relay', 'Deliver', 'Count'];
  const silent = async () => {
    const lines = await logLines();
    return parts.filter((part) => !lines.some(({ source }) => source.startsWith(part)));
  };
  await expect.poll(silent).toEqual([]);
  const written = await readFile(inject('stack').log, 'utf8');
  for (const known of [account, failing.id, late.id]) expect(written).toContain(known);
  const secrets = [token, app_token, key, secret, secret.slice(6), bot, accepted, rejected, delayed, stranger];
  for (const hidden of [...secrets, destination.url, ...Object.values(words)]) {
    expect(written.includes(hidden), hidden).toBe(false);
  }
});

test("no log line contains a profile's values, a request's reason, or a phone number", { tags: 'long' }, async () => {
  const { account, token } = await newCaller('user_data');
  const { destination, key, secret } = await giveWebhook(account);
  destination.answers = [500, 500, 400];
  const word = (name: string) => `${name}-${randomUUID()}`;
  const words = {
    first: word('first'),
    last: word('last'),
    number: word('number'),
    changed: word('changed'),
    version: word('version'),
    source: word('source'),
    reason: word('reason'),
    why: word('why'),
    idempotency: word('idempotency'),
    shoe: word('shoe'),
    event: word('event'),
    path: word('path'),
    query: word('query'),
  };
  const [phone, rejected, delayed, stranger] = [newPhone(), newPhone(), newPhone(), newPhone()];
  const json = { 'content-type': 'application/json' };
  const report = (...events: { type: string; data: object }[]) =>
    sendRaw('receiveAppEvents', {
      token: app_token,
      headers: json,
      body: JSON.stringify(events.map((event) => ({ id: `${words.event}-${randomUUID()}`, ...event }))),
    });
  const updateProfile = (phone_number: string, first_name: string) => {
    const values = { first_name, last_name: words.last, number: words.number, app_version: words.version };
    const properties = Object.fromEntries(
      Object.entries(values).map(([name, value]) => [name, { value, source: words.source }]),
    );
    return report({ type: 'user.updated', data: { phone_number, properties } });
  };
  const answer = (id: string, answers: object) => report({ type: 'user_data.answered', data: { id, answers } });
  const { reason, why } = words;
  const asked = {
    reason,
    data: [
      { property: 'first_name' as const, reason: why, required: true },
      { property: 'last_name' as const, reason: why },
      { property: 'number' as const },
      { property: 'app_version' as const },
    ],
  };
  const start = async (phone_number: string, headers = {}) =>
    (await call('startUserDataRequest', { token, path: { phone_number }, headers, body: asked })).body.requestId;
  const raw = (name: 'startUserDataRequest' | 'retrieveUserData', number: string, body: string, given = token) =>
    sendRaw(name, { token: given, path: { phone_number: number, id: number }, headers: json, body });

  // Requests to users: accepted, rejected and delayed by the app network.
  for (const known of [phone, rejected, delayed]) await updateProfile(known, words.first);
  await haveAppFail(rejected, delayed);
  const headers = { 'idempotency-key': words.idempotency };
  const [id, failing, late] = [await start(phone, headers), await start(rejected), await start(delayed)];
  expect(await start(phone, headers)).toBe(id);
  await untilShown(phone, 1);
  await untilShown(delayed, 1);

  // Answers, profile updates and fetches. The platform fails to accept the completed request twice, then refuses it.
  await answer(id, { first_name: 'approved', [words.shoe]: 'denied' });
  await answer(words.path, { first_name: 'approved' });
  await answer(id, { first_name: 'approved' });
  const fetching = call('fetchUserData', { token, path: { id }, query: { long_poll: '30' } });
  await answer(id, { last_name: 'denied', number: 'approved' });
  const completed = (await fetching).body;
  expect(completed.results).toMatchObject({ first_name: { value: words.first }, number: { value: words.number } });
  await updateProfile(phone, words.changed);
  await call('retrieveUserData', { token, path: { id: phone }, body: { data: [{ property: 'app_version' }] } });

  // Rejected by the service.
  const { data } = asked;
  await fail('startUserDataRequest', { token, headers, path: { phone_number: delayed }, body: asked });
  await fail('startUserDataRequest', { token, path: { phone_number: stranger }, body: asked });
  await fail('retrieveUserData', { token, path: { id: phone }, body: { data } });
  await fail('retrieveUserData', { token, path: { id: stranger }, body: { data: data.slice(3) } });
  await fail('fetchUserData', { token, path: { id: words.path }, query: {} });
  await fail('fetchUserData', { token, path: { id }, query: { long_poll: words.query } });
  const bodies = [
    JSON.stringify({ reason: why, data: [{ property: words.shoe, reason, required: words.first }] }),
    `{"reason":"${reason}","data":[{"property":"${words.shoe}`,
  ];
  for (const body of bodies) {
    await raw('startUserDataRequest', phone, body);
    await raw('startUserDataRequest', `+${stranger}`, body);
    await raw('retrieveUserData', words.path, body);
    await raw('retrieveUserData', phone, body, `${token}-x`);
  }
  await report({
    type: 'user.updated',
    data: { phone_number: `+${stranger}`, properties: { [words.shoe]: words.first } },
  });

  // Erasure, after the failures are logged.
  await untilFailed(
    account,
    phone,
    'Deliver permanently failed user_data.request status_400',
    'Deliver retry scheduled user_data.request status_503',
    'Deliver retry scheduled user_data.completed status_500',
    'Deliver retry scheduled user_data.completed status_400',
    'Deliver permanently failed user_data.completed status_400',
  );
  await report(...[phone, rejected, delayed].map((phone_number) => ({ type: 'user.removed', data: { phone_number } })));
  const goneBy = async () => {
    const requests = [id, failing, late].map((one) => sendRaw('fetchUserData', { token, path: { id: one } }));
    return (await Promise.all(requests)).map(({ status }) => status);
  };
  await expect.poll(goneBy).toEqual([404, 404, 404]);
  // An erasure ends with a last run, after all requests in progress have ended.
  const isForgotten = async (one: string) => (await getConsistent(erasureKey(one))) === undefined;
  for (const one of [phone, rejected, delayed]) await expect.poll(() => isForgotten(one)).toBe(true);

  const written = await readFile(inject('stack').log, 'utf8');
  for (const known of [account, failing, late]) expect(written).toContain(known);
  for (const part of [
    'StartUserDataRequest',
    'FetchUserData',
    'RetrieveUserData',
    'ReceiveAppEvents',
    'Deliver',
    'Erase',
  ]) {
    expect(written).toContain(`${part}Function`);
  }
  const secrets = [token, app_token, key, secret, secret.slice(6), phone, rejected, delayed, stranger, destination.url];
  for (const hidden of [...secrets, ...Object.values(words)]) {
    expect(written.includes(hidden), hidden).toBe(false);
  }
});

test('no log line contains a token from a path, or the content of calls from and to chat platforms', {
  tags: 'long',
}, async () => {
  const { account, token } = await newCaller('bridge');
  const bot = newPhone();
  const destination = await DestinationServer.start();
  onTestFinished(() => destination.close());
  const word = (name: string) => `${name}-${randomUUID()}`;
  const [text, reply, caption, written, channel, ofTurn, hmac_secret] = [
    word('text'),
    word('reply'),
    word('caption'),
    word('written'),
    word('channel'),
    word('token'),
    word('hmac'),
  ];
  const [accepted, rejected, writer] = [newPhone(), newPhone(), newPhone()];
  const settings = { url: destination.url, channel, token: ofTurn };
  await updateAccount(account, { bot_number: bot, platform: { name: 'turn', settings, hook: { hmac_secret } } });

  const encoded = (given: string) => Buffer.from(given).toString('base64url');
  const wrong = mintToken();
  const toTurn = (given: string, body: string, secret = hmac_secret) =>
    sendRaw('receiveTurnMessage', {
      path: { encoded_token: encoded(given) },
      headers: {
        'content-type': 'application/json',
        'x-turn-hook-signature': createHmac('sha256', secret).update(body).digest('base64'),
      },
      body,
    });
  const image = { to: accepted, type: 'image', image: { link: 'https://example.com/', caption } };
  const statuses = [
    await toTurn(token, JSON.stringify(image)),
    await toTurn(token, JSON.stringify(image), 'another secret'),
    await toTurn(token, JSON.stringify({ ...image, to: `${rejected}x` })),
    await toTurn(token, `{"to":"${rejected}`),
    await toTurn(wrong, JSON.stringify(image)),
    await toTurn(`${token}x`, JSON.stringify(image)),
  ].map(({ status }) => status);
  expect(statuses).toEqual([200, 403, 422, 400, 403, 403]);

  const toRapidpro = (fields: Record<string, string>, given = token) =>
    sendRaw('receiveRapidproMessage', { token: given, body: new URLSearchParams(fields) });
  await toRapidpro({ id: '1', text, to: accepted, quick_reply: reply });
  await toRapidpro({ id: '1', text, to: `${rejected}x` });
  await toRapidpro({ id: '1', text, to: accepted }, wrong);
  await untilShown(accepted, 2);
  await write(writer, bot, written);
  await call('receiveTestMessage', {
    token,
    path: { bot_phone_number: bot },
    body: { message: { type: 'text', from: writer, text: { body: written } } },
  });
  await expect.poll(() => destination.calls.filter(({ body }) => body.includes(written)).length).toBe(2);
  await expect.poll(() => destination.calls.some(({ body }) => body.includes('"sent"'))).toBe(true);
  const last = await toTurn(wrong, JSON.stringify(image));
  await linesOf(last.headers.get('apigw-requestid'));

  const log = await readFile(inject('stack').log, 'utf8');
  expect(log).toContain(account);
  for (const part of ['ReceiveTurnMessage', 'ReceiveRapidproMessage', 'ReceiveTestMessage'])
    expect(log).toContain(part);
  const tokens = [token, wrong].flatMap((given) => [
    given,
    given.slice(5, 40),
    encoded(given),
    encoded(given).slice(8, 40),
  ]);
  const secrets = [ofTurn, hmac_secret, channel, destination.url, bot, accepted, rejected, writer];
  for (const hidden of [...tokens, ...secrets, text, reply, caption, written]) {
    expect(log.includes(hidden), hidden).toBe(false);
  }
});
