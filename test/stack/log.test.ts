import { randomBytes, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { expect, inject, onTestFinished, test } from 'vitest';
import { updateAccount } from '../../shared/accounts.ts';
import { call, fail, sendRaw } from './support/client.ts';
import { untilShown, write } from './support/phones.ts';
import { Receiver } from './support/receiver.ts';
import { newCaller, newPanelist, newPhone, newVendor } from './support/world.ts';

const { app_token, phone_url, bridge_url } = inject('stack');

const lines = async (): Promise<{ source: string; line: Record<string, unknown> }[]> => {
  const written = await readFile(inject('stack').log, 'utf8');
  return written
    .split('\n')
    .slice(0, -1)
    .map((text) => {
      const [source = ''] = text.split(' ', 1);
      return { source, line: JSON.parse(text.slice(source.length + 1)) };
    });
};

/** The lines of a request, once its functions and the gateway have written them. */
const linesOf = async (requestId: string | null) => {
  const found = async () => (await lines()).filter(({ line }) => line.request_id === requestId);
  await expect.poll(async () => (await found()).some(({ line }) => 'function_ms' in line)).toBe(true);
  return found();
};

test('a request is one line of its function: request id, route, account, status, milliseconds', async () => {
  const { account, token } = await newVendor();
  const { headers } = await call('listProfilers', { token });
  const written = (await linesOf(headers.get('apigw-requestid'))).filter(({ source }) =>
    source.startsWith('ListProfilers'),
  );
  expect(written.map(({ line }) => line)).toEqual([
    {
      level: 'info',
      message: 'request',
      request_id: headers.get('apigw-requestid'),
      route: 'GET /v1/research_profilers',
      account,
      status: 200,
      ms: expect.any(Number),
    },
  ]);
});

test('a refused request is in the log too, with the status of its problem', async () => {
  const { account, token } = await newVendor();
  const { headers } = await fail('readProfiler', { token, path: { id: 'x' } });
  const written = await linesOf(headers.get('apigw-requestid'));
  expect(written.map(({ line }) => line)).toContainEqual(
    expect.objectContaining({ message: 'request', account, status: 404 }),
  );
});

test('no line holds a token, a phone number, a text or an id that came in a path', async () => {
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

/** A webhook of an account, with an address and a secret that are nobody else's. */
const giveWebhook = async (account: string) => {
  const receiver = await Receiver.start();
  onTestFinished(() => receiver.close());
  const key = randomUUID();
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const settings = { url: `${receiver.url}?key=${key}`, secret };
  await updateAccount(account, { platform: { name: 'webhook', settings } });
  return { receiver, key, secret };
};

/** Has the app network refuse the messages to one phone for good, and put off those to another once. */
const haveAppFail = async (refused: string, putOff: string): Promise<void> => {
  const rules = [
    { phone: refused, status: 400 },
    { phone: putOff, status: 503, retry_after: 1, times: 1 },
  ];
  await fetch(`${phone_url}/behaviour`, { method: 'PUT', body: JSON.stringify(rules) });
  onTestFinished(async () => void (await fetch(`${phone_url}/behaviour`, { method: 'DELETE' })));
};

test('no line of any function or host holds what a message says, who it is from or to, or a secret of a receiver', async () => {
  const { account, token } = await newCaller('messages', 'stats');
  const bot = newPhone();
  await updateAccount(account, { bot_number: bot });
  const { receiver, key, secret } = await giveWebhook(account);
  const [taken, refused, putOff, stranger] = [newPhone(), newPhone(), newPhone(), newPhone()];
  const word = (name: string) => `${name}-${randomUUID()}`;
  const words = {
    text: word('text'),
    reply: word('reply'),
    media: word('media'),
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

  // Sent: taken, refused and put off by the app network.
  await haveAppFail(refused, putOff);
  const headers = { 'idempotency-key': words.idempotency };
  const { body: sent } = await call('sendMessage', { token, headers, body: text(taken) });
  await call('sendMessage', {
    token,
    body: { to: taken, type: 'image', image: { url: `${bridge_url}/${words.media}` } },
  });
  const { body: failing } = await call('sendMessage', { token, body: text(refused) });
  const { body: late } = await call('sendMessage', { token, body: text(putOff) });
  await untilShown(taken, 2);
  await untilShown(putOff, 1);

  // Reported and received: the account's platform takes some, and one only after it was put off; one it refuses.
  await fetch(`${phone_url}/messages/${sent.id}/states`, {
    method: 'POST',
    body: JSON.stringify({ state: 'delivery_failed', reason: words.reason }),
  });
  const passedOn = () => receiver.calls.filter(({ body }) => body.includes(words.received)).length;
  receiver.answers = [
    (response) => {
      const body = receiver.calls.at(-1)?.body ?? '';
      const fails = body.includes(words.received) && passedOn() < 3;
      response.writeHead(body.includes(words.lost) ? 400 : fails ? 500 : 204).end();
    },
  ];
  await write(taken, bot, words.received);
  await write(stranger, bot, words.lost);
  await expect.poll(passedOn).toBe(3);

  // Refused by the service itself.
  await fail('sendMessage', { token, headers, body: text(stranger) });
  await fail('sendMessage', { token, body: { to: taken, type: 'file', file: { url: `https://${words.foreign}/` } } });
  await sendRaw('sendMessage', {
    token,
    headers: json,
    body: JSON.stringify({ to: `+${stranger}`, type: words.text }),
  });
  await sendRaw('sendMessage', { token, headers: json, body: `{"to":"${stranger}","text":"${words.text}` });
  await call('listLogs', { token, query: { contact: taken } });
  await write(stranger, newPhone(), words.lost);
  const events = [
    { id: words.event, type: 'message.received', data: { from: stranger, to: bot, type: words.lost } },
    { id: words.event, type: 'message.state', data: { id: words.mistyped, state: 'read' } },
  ];
  await sendRaw('takeAppEvents', { token: app_token, headers: json, body: JSON.stringify(events) });
  const last = await sendRaw('takeAppEvents', { token: `${app_token}-x`, headers: json, body: JSON.stringify(events) });
  await linesOf(last.headers.get('apigw-requestid'));

  // What was to fail has failed, and is in the log by its names.
  const told = async () =>
    (await lines())
      .filter(({ line }) => line.account === account && /^(put off|given up)$/.test(String(line.message)))
      .map(({ source, line: { message, type, cause } }) => `${source.slice(0, 7)} ${message} ${type} ${cause}`);
  await expect
    .poll(told)
    .toEqual(
      expect.arrayContaining([
        'Deliver given up message.send status_400',
        'Deliver put off message.send status_503',
        'Deliver put off message.received status_500',
        'Deliver given up message.received status_400',
      ]),
    );

  const written = await readFile(inject('stack').log, 'utf8');
  for (const known of [account, failing.id, late.id]) expect(written).toContain(known);
  const sources = new Set((await lines()).map(({ source }) => source.replace(/[^A-Za-z].*$/, '')));
  for (const part of ['SendMessage', 'TakeAppEvents', 'Relay', 'Deliver', 'Count']) {
    expect(
      [...sources].some((source) => source.startsWith(part)),
      part,
    ).toBe(true);
  }
  const secrets = [token, app_token, key, secret, secret.slice(6), bot, taken, refused, putOff, stranger];
  for (const hidden of [...secrets, receiver.url, ...Object.values(words)]) {
    expect(written.includes(hidden), hidden).toBe(false);
  }
});
