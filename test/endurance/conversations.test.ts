/**
 * Fifty turns between a user and a bot on each chat platform, with repeats, failures and rate limits on both sides. On
 * a separate stack with simulators.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createAccount, updateAccount } from '../../infra/operator/queries/accounts-admin.ts';
import { issueToken } from '../../infra/operator/queries/tokens-admin.ts';
import { type OwnStack, serveOwnStack } from '../stack/support/own-stack.ts';
import { newAccountId, newPhone } from '../stack/support/world.ts';

/** Milliseconds of a minute. An attempt has a time limit of 0.25 s. */
const MINUTE = 1_500;
const TURNS = 50;
/** A rate limit in calls a minute, below those of a conversation. */
const LIMIT = 60;

interface Call {
  address: string;
  status: number | string | null;
  duplicate: boolean;
}

/** A chat of a user and a bot. */
interface Chat {
  stack: OwnStack['stack'];
  phone: string;
  bot: string;
  /** The simulator's URL of the channel or number. */
  line: string;
  /** The URL of the app network's simulator. */
  app: string;
  /** The texts that the phone must show. */
  shown: string[];
  /** Actions of the platform after a turn, by the number of the turn. */
  between: Record<number, (chat: Chat) => Promise<unknown>>;
}

const ask = async <Body>(method: string, address: string, body?: unknown): Promise<Body> => {
  const response = await fetch(address, { method, ...(body !== undefined && { body: JSON.stringify(body) }) });
  expect(response.ok, `${method} ${address} ${response.status}`).toBe(true);
  const text = await response.text();
  return (text === '' ? null : JSON.parse(text)) as Body;
};

const get = <Body>(address: string): Promise<Body> => ask<Body>('GET', address);

const misbehave = (address: string, rules: unknown) => ask('PUT', `${address}/behaviour`, rules);

interface Shown {
  data: { id: string; text: { body: string }; quick_replies?: string[] };
}

const onPhone = ({ app, phone }: Chat): Promise<Shown[]> => get(`${app}/phones/${phone}/messages`);

/** Waits until the phone shows the expected texts. */
const untilShown = (chat: Chat) =>
  expect
    .poll(async () => (await onPhone(chat)).map(({ data }) => data.text.body), { timeout: 150_000 })
    .toEqual(chat.shown);

/** Sends a request, and repeats it after a second if the busy service returns a 5xx, as its clients do. */
const persist = async (method: string, address: string, body: object): Promise<void> => {
  for (let left = 10; ; left -= 1) {
    const { ok, status } = await fetch(address, { method, body: JSON.stringify(body) });
    if (ok) return;
    if (status < 500 || left === 0) throw new Error(`${method} ${address} ${status}`);
    await pause(1_000);
  }
};

const write = ({ app, phone, bot }: Chat, text: string) =>
  persist('POST', `${app}/phones/${phone}/messages`, { to: bot, text, event_id: randomUUID() });

/** The app reports a state of all messages on the phone, so earlier reports are repeated. */
const report = async (chat: Chat, state: string): Promise<void> => {
  for (const { data } of await onPhone(chat))
    await persist('POST', `${chat.app}/messages/${data.id}/states`, { state });
};

const callsOf = ({ line }: Chat): Promise<Call[]> => get(`${line}/calls`);

/** Kills a worker during its call with the user's message. Until then, the platform responds too late. */
const killWorker = async (chat: Chat): Promise<void> => {
  // Otherwise, the call with this state comes first, and the message waits for its next attempt.
  const { id } = (await sentBy(chat)).at(-1) ?? {};
  await expect.poll(async () => Object.keys(await statusesOf(chat)), { timeout: 150_000 }).toContain(id);
  await misbehave(chat.line, { delay_ms: 400 });
  await write(chat, 'turn 40');
  const workers = chat.stack.functionIds().filter((name) => name.startsWith('Deliver'));
  const isSending = async () => (await callsOf(chat)).at(-1)?.status === null;
  let killed = 0;
  const killAll = async (): Promise<number> => {
    if (await isSending()) for (const worker of workers) while (chat.stack.kill(worker)) killed += 1;
    return killed;
  };
  await expect.poll(killAll, { timeout: 150_000, interval: 20 }).toBeGreaterThan(0);
  await misbehave(chat.line, []);
};

/** Faults, by the turn before which they begin. */
const FAULTS: Record<number, (chat: Chat) => Promise<unknown>> = {
  20: ({ line }) => misbehave(line, { status: 503, times: 3 }),
  25: ({ line }) => misbehave(line, { drop: true, times: 3 }),
  30: ({ line }) => misbehave(line, { drop: true, after: true, times: 1 }),
  35: ({ line }) => misbehave(line, { status: 429, retry_after: 1, times: 2 }),
  45: ({ app, phone }) => misbehave(app, { status: 503, times: 3, phone }),
};

const talk = async (chat: Chat): Promise<void> => {
  for (let turn = 1; turn <= TURNS; turn += 1) {
    await FAULTS[turn]?.(chat);
    if (turn === 40) await killWorker(chat);
    else await write(chat, `turn ${turn}`);
    chat.shown.push(`You wrote: turn ${turn}`);
    await untilShown(chat);
    await chat.between[turn]?.(chat);
    if (turn % 10 === 0) await report(chat, 'delivered_to_user');
  }
  await report(chat, 'read');
};

const turns = Array.from({ length: TURNS }, (_, turn) => `turn ${turn + 1}`);

const open = async ({ stack, app }: OwnStack, line: string) => {
  const bot = newPhone();
  const { id: account } = await createAccount({ name: 'Chat', id: newAccountId(), bot_number: bot });
  const { token } = await issueToken(account, { label: 'test', permissions: ['bridge'] });
  const chat: Chat = { stack, app: app.phoneUrl, bot, phone: newPhone(), line, shown: [], between: {} };
  return { account, token, chat };
};

interface Sent {
  id: string;
  status: string;
}

const sentBy = (chat: Chat): Promise<Sent[]> => get(`${chat.line}/sent`);

/** The statuses that a platform received, by its message id, without repeats after a lost response. */
const statusesOf = async (chat: Chat): Promise<Record<string, string[]>> => {
  const reports = await get<{ id: string; status: string }[]>(`${chat.line}/statuses`);
  return Object.fromEntries(
    [...Map.groupBy(reports, ({ id }) => id)].map(([id, all]) => [id, [...new Set(all.map(({ status }) => status))]]),
  );
};

/** Waits until a platform has received these statuses of each of its messages. */
const untilStatuses = async (chat: Chat, statuses: string[]): Promise<void> => {
  const expected = Object.fromEntries((await sentBy(chat)).map(({ id }) => [id, statuses]));
  await expect.poll(() => statusesOf(chat), { timeout: 150_000 }).toEqual(expected);
};

/** Checks that the platform received the user's messages in order. Repeats need a lost response or a crash. */
const checkReceived = async (chat: Chat, address: string): Promise<void> => {
  const received = await get<{ text: string }[]>(`${chat.line}/received`);
  expect(received.map(({ text }) => text)).toEqual(turns);
  const calls = await callsOf(chat);
  const answeredBy = (...wanted: unknown[]) => calls.filter(({ status }) => wanted.includes(status));
  expect(answeredBy('dropped')).toHaveLength(4);
  expect(answeredBy(503)).toHaveLength(3);
  // A response after the time limit is lost, too, and one worker was killed.
  const lost = answeredBy('dropped', 'timeout').length + 1;
  const repeated = calls.filter((call) => call.address === address && call.duplicate);
  expect(repeated.length).toBeLessThanOrEqual(lost);
};

const LONG = Array.from({ length: 700 }, (_, index) => `Wörter${index}`).join(' ');

/** RapidPro repeats its last message. */
const rapidproRepeats = async (chat: Chat): Promise<void> => {
  const last = (await sentBy(chat)).at(-1);
  await ask('POST', `${chat.line}/messages/${last?.id}/resend`);
  await untilShown(chat);
};

const rapidproSendsParts = async (chat: Chat): Promise<void> => {
  const sent = await ask<Sent & { requests: { text: string; status: number }[] }>('POST', `${chat.line}/send`, {
    to: chat.phone,
    text: LONG,
    quick_replies: ['Yes', 'No & maybe'],
  });
  const parts = sent.requests.map(({ text }) => text);
  expect(parts.length).toBeGreaterThan(2);
  expect(parts.join(' ')).toBe(LONG);
  chat.shown.push(...parts);
  await untilShown(chat);
  // Newer versions repeat all parts five minutes after a part without a response.
  await pause(5 * MINUTE);
  await ask('POST', `${chat.line}/messages/${sent.id}/resend`);
  await untilShown(chat);
  const shown = (await onPhone(chat)).slice(-parts.length).map(({ data }) => data.quick_replies);
  expect(shown).toEqual([...Array.from({ length: parts.length - 1 }, () => undefined), ['Yes', 'No & maybe']]);
};

const turnSendsAnImage = async (chat: Chat): Promise<void> => {
  const image = { link: 'https://example.com/picture.jpg', caption: 'A picture' };
  await ask('POST', `${chat.line}/send`, { to: chat.phone, image });
  chat.shown.push('A picture\nhttps://example.com/picture.jpg');
  await untilShown(chat);
};

test('all messages of fifty turns on each platform arrive in order, and the user receives none twice', async () => {
  const own = await serveOwnStack({ name: 'conversations', minute: MINUTE });
  const { rapidpro, turn } = own;

  const onRapidpro = async (): Promise<void> => {
    const { account, token, chat } = await open(own, `${rapidpro.url}/channels/chat`);
    // RapidPro must recognise the repeat after a crash, however late it arrives.
    rapidpro.addChannel('chat', { token, bot: 'echo', guard_ms: 60_000 });
    const settings = { url: `${rapidpro.url}/c/ex/chat/receive` };
    await updateAccount(account, { platform: { name: 'rapidpro', settings } });
    chat.between = { 7: rapidproRepeats, 12: rapidproSendsParts };
    await talk(chat);
    await checkReceived(chat, 'receive');
    // A later status replaces a pending one, so only the last status is checked.
    await expect
      .poll(async () => (await sentBy(chat)).map(({ status }) => status), { timeout: 150_000 })
      .toEqual(Array.from({ length: TURNS + 1 }, () => 'delivered'));
  };

  const onTurn = async (): Promise<void> => {
    const { account, token, chat } = await open(own, `${turn.url}/numbers/chat`);
    const hook = { hmac_secret: 'secret of the channel' };
    turn.addNumber('chat', { token: 'turn', bridge_token: token, ...hook, bot: 'echo', limit: LIMIT });
    const settings = { url: turn.url, channel: 'chat', token: 'turn' };
    await updateAccount(account, { platform: { name: 'turn', settings, hook } });
    chat.between = { 12: turnSendsAnImage };
    await talk(chat);
    await checkReceived(chat, 'messages');
    await untilStatuses(chat, ['sent', 'delivered', 'read']);
    // The rate limit was reached, and no message was lost.
    expect((await callsOf(chat)).some(({ status }) => status === 429)).toBe(true);
  };

  await Promise.all([onRapidpro(), onTurn()]);
}, 400_000);
