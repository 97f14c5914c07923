/**
 * `npm run bench`: what messages take on the local stack of this machine. From accepted to the phone; messages a second
 * through the whole pipeline; and what a receiver that never answers means to another account, compared in one run.
 */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { callTableOf } from '../../infra/local/call-table.ts';
import { seedDemo } from '../../infra/local/demo.ts';
import { LocalStack } from '../../infra/local/local-stack.ts';
import { AppNetwork } from '../../infra/local/simulated/app-network.ts';
import type { PhoneMessage } from '../../infra/local/simulated/inbox.ts';
import { synthesise } from '../../infra/local/synthesise.ts';
import { createAccount, updateAccount } from '../../shared/accounts.ts';

const TABLE = 'business-api-bench';

const folder = await mkdtemp(join(tmpdir(), 'bench-'));
const app = await AppNetwork.start({ port: 0 });
const stack = await LocalStack.start({
  assembly: synthesise(folder, 'minified').then(() => folder),
  ports: { base: 0, bridge: 0 },
  dynamodbEndpoint: process.env.DYNAMODB_ENDPOINT || undefined,
  tableName: TABLE,
  minute: 60_000,
  secret: app.stackSecret,
  onLine: () => undefined,
});
callTableOf({ dynamodbEndpoint: stack.dynamodbEndpoint, table: TABLE });
const { token, app_token: appToken } = await seedDemo();
app.connect({ bridgeUrl: stack.bridgeUrl, appToken });

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

const quantile = (values: number[], share: number): number => {
  const sorted = values.toSorted((a, b) => a - b);
  return Math.round(sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? 0);
};

const spread = (values: number[]): string => `p50 ${quantile(values, 0.5)} ms, p99 ${quantile(values, 0.99)} ms`;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Milliseconds from the answer of the API to the call of the app network, one message after the other. */
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

const throughput = async (count: number, conversations: number, clients: number): Promise<string> => {
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
  return `${rate(accepted)} a second accepted, ${rate(performance.now())} a second delivered`;
};

/** A server that an account's messages are posted to: answers, or never does. Tells when a text came. */
const webhook = async (answers: 'at once' | 'never') => {
  const came = new Map<string, number>();
  const server = createServer(async (request, response) => {
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString());
    came.set(body.message.text.body, Date.now());
    if (answers === 'at once') response.writeHead(204).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const bot = newPhone();
  const { id } = await createAccount({ name: `Bench ${answers}`, bot_number: bot });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  process.env.ALLOW_LOOPBACK = 'true';
  await updateAccount(id, { platform: { name: 'webhook', settings: { url, secret: app.secret } } });
  return { bot, came, server };
};

let events = 0;
const write = async (bot: string, text: string): Promise<void> => {
  events += 1;
  const data = { from: newPhone(), to: bot, type: 'text', text: { body: text } };
  await post(`${stack.bridgeUrl}/v1/app/events`, appToken, { id: `event-${events}`, type: 'message.received', data });
};

const receptions = async (count: number, { bot, came }: Awaited<ReturnType<typeof webhook>>): Promise<number[]> => {
  const found: number[] = [];
  for (let done = 0; done < count; done += 1) {
    const text = `${bot} ${events}`;
    await write(bot, text);
    const accepted = Date.now();
    while (!came.has(text)) await pause(2);
    found.push(Math.max((came.get(text) ?? 0) - accepted, 0));
  }
  return found;
};

try {
  await latencies(20);
  say(`accepted to delivered, one by one (200): ${spread(await latencies(200))}`);
  say(`500 messages, 50 conversations, 10 clients: ${await throughput(500, 50, 10)}`);

  const good = await webhook('at once');
  const dead = await webhook('never');
  await receptions(20, good);
  const alone = await receptions(100, good);
  await Promise.all(Array.from({ length: 40 }, (_, place) => write(dead.bot, `${place}`)));
  while (dead.came.size < 8) await pause(10);
  const beside = await receptions(100, good);
  const ratio = quantile(beside, 0.5) / quantile(alone, 0.5);
  say(`a webhook alone (100): ${spread(alone)}`);
  say(`the same beside one that never answers (100): ${spread(beside)}; ratio of the medians ${ratio.toFixed(2)}`);
  for (const { server } of [good, dead]) server.close().closeAllConnections();
} finally {
  await stack.close();
  await app.close();
  await rm(folder, { recursive: true });
}
