/**
 * Message delivery on the local stack: the latency from acceptance to the phone, the throughput of the whole pipeline,
 * and the effect on other accounts of a destination that never responds.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { PhoneMessage } from '../../infra/local/simulators/app-network/inbox.ts';
import { createAccount, updateAccount } from '../../infra/operator/queries/accounts-admin.ts';
import { type Figure, quantile, times } from './report.ts';
import { demo, measure, simulators, stack } from './support.ts';

const { app } = simulators;
const { token, app_token: appToken, bot_phone_number: bot, turn_bot_phone_number: turnBot } = demo;

const post = async (url: string, bearer: string, body: unknown): Promise<{ id: string }> => {
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${url} answered ${response.status}.`);
  return response.status === 204 ? { id: '' } : ((await response.json()) as { id: string });
};

const send = (to: string) => post(`${stack.baseUrl}/v1/message`, token, { to, type: 'text', text: { body: 'Hello' } });

let phones = 0;
const newPhone = (): string => {
  phones += 1;
  return `4477009${10_000 + phones}`;
};

const shownOn = async (phone: string): Promise<PhoneMessage[]> =>
  (await fetch(`${app.phoneUrl}/phones/${phone}/messages`)).json() as Promise<PhoneMessage[]>;

/** Milliseconds from the response of the API to the call of the app network, one message after the other. */
const latencies = async (count: number): Promise<number[]> => {
  const found: number[] = [];
  for (let done = 0; done < count; done += 1) {
    const phone = newPhone();
    await send(phone);
    const accepted = Date.now();
    let shown = await shownOn(phone);
    while (shown.length === 0) {
      await pause(2);
      shown = await shownOn(phone);
    }
    found.push(Math.max(Date.parse(shown[0]?.received ?? '') - accepted, 0));
  }
  return found;
};

const throughput = async (count: number, conversations: number, clients: number): Promise<Figure[]> => {
  const what = `${count} messages, ${conversations} conversations, ${clients} clients`;
  const targets = Array.from({ length: conversations }, newPhone);
  const start = performance.now();
  let next = 0;
  const client = async (): Promise<void> => {
    while (next < count) {
      const phone = targets[next % conversations] ?? '';
      next += 1;
      await send(phone);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  const accepted = performance.now();
  const shown = async (): Promise<number> => {
    const all = await Promise.all(targets.map(shownOn));
    return all.reduce((sum, messages) => sum + messages.length, 0);
  };
  while ((await shown()) < count) await pause(20);
  const rate = (end: number): number => Math.round((count / (end - start)) * 1_000);
  return [
    { what: `${what}: accepted`, value: rate(accepted), unit: 'a second' },
    { what: `${what}: delivered`, value: rate(performance.now()), unit: 'a second' },
  ];
};

/** Starts the webhook of a new account. It responds at once or never, and records the arrival time of each text. */
const webhook = async (answers: 'at once' | 'never') => {
  const arrivals = new Map<string, number>();
  const server = createServer(async (request, response) => {
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString());
    arrivals.set(body.message.text.body, Date.now());
    if (answers === 'at once') response.writeHead(204).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const bot = newPhone();
  const { id } = await createAccount({ name: `Bench ${answers}`, bot_number: bot });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  await updateAccount(id, { platform: { name: 'webhook', settings: { url, secret: app.secret } } });
  return { bot, arrivals, server };
};

let events = 0;
const write = async (bot: string, text: string): Promise<void> => {
  events += 1;
  const data = { from: newPhone(), to: bot, type: 'text', text: { body: text } };
  await post(`${stack.bridgeUrl}/v1/app/events`, appToken, { id: `event-${events}`, type: 'message.received', data });
};

const receptions = async (count: number, { bot, arrivals }: Awaited<ReturnType<typeof webhook>>): Promise<number[]> => {
  const found: number[] = [];
  for (let done = 0; done < count; done += 1) {
    const text = `${bot} ${events}`;
    await write(bot, text);
    const accepted = Date.now();
    while (!arrivals.has(text)) await pause(2);
    found.push(Math.max((arrivals.get(text) ?? 0) - accepted, 0));
  }
  return found;
};

/** Milliseconds from a request to its response, one after the other. */
const answering = async (count: number, ask: (place: number) => Promise<Response>): Promise<number[]> => {
  const found: number[] = [];
  for (let done = 0; done < count; done += 1) {
    const start = performance.now();
    const response = await ask(done);
    await response.text();
    if (response.status !== 200) throw new Error(`A request was answered ${response.status}.`);
    found.push(performance.now() - start);
  }
  return found;
};

const asRapidpro = (place: number) =>
  fetch(`${stack.bridgeUrl}/v1/webhook/rapidpro/`, {
    method: 'POST',
    headers: { authorization: token },
    body: new URLSearchParams({ id: String(place), text: 'Hello', to_no_plus: newPhone() }),
  });

const asTurn = () =>
  fetch(`${stack.bridgeUrl}/v1/webhook/turn/${Buffer.from(token).toString('base64url')}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ content: 'Hello', to: `+${newPhone()}`, context: null }),
  });

const asTest = () =>
  fetch(`${stack.bridgeUrl}/webhook/${bot}`, {
    method: 'POST',
    headers: { authorization: token, 'content-type': 'application/json' },
    body: JSON.stringify({ message: { type: 'text', from: newPhone(), text: { body: 'Hello' } } }),
  });

/** Milliseconds from a user's message to the bot's reply on the phone, through a chat platform. */
const turns = async (count: number, number: string): Promise<number[]> => {
  const found: number[] = [];
  for (let done = 0; done < count; done += 1) {
    const phone = newPhone();
    const start = Date.now();
    await fetch(`${app.phoneUrl}/phones/${phone}/messages`, {
      method: 'POST',
      body: JSON.stringify({ to: number, text: 'Hello' }),
    });
    let shown = await shownOn(phone);
    while (shown.length === 0) {
      await pause(2);
      shown = await shownOn(phone);
    }
    found.push(Date.parse(shown[0]?.received ?? '') - start);
  }
  return found;
};

await measure('messages', async () => {
  await latencies(20);
  const figures = [times('accepted to delivered, one by one', await latencies(200))];
  figures.push(...(await throughput(500, 50, 10)));

  for (const [name, ask] of Object.entries({ RapidPro: asRapidpro, Turn: asTurn, 'a test message': asTest })) {
    await answering(20, ask);
    figures.push(times(`a request of the bridge, ${name}`, await answering(200, ask)));
  }
  // Turn accepts 60 calls a minute. This number of turns uses half of them.
  for (const [name, number] of Object.entries({ RapidPro: bot, Turn: turnBot })) {
    figures.push(times(`from a user to a bot on ${name} and back`, await turns(15, number)));
  }

  const good = await webhook('at once');
  const dead = await webhook('never');
  await receptions(20, good);
  const alone = await receptions(100, good);
  await Promise.all(Array.from({ length: 40 }, (_, place) => write(dead.bot, `${place}`)));
  while (dead.arrivals.size < 8) await pause(10);
  const beside = await receptions(100, good);
  for (const { server } of [good, dead]) server.close().closeAllConnections();
  return [
    ...figures,
    times('a webhook alone', alone),
    times('the same beside one that never answers', beside),
    { what: 'ratio of the two medians', value: quantile(beside, 0.5) / quantile(alone, 0.5), unit: '×' },
  ];
});
