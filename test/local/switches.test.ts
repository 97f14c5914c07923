/**
 * The switches of destinations: what the service meets at each simulator, and what the page shows.
 *
 * @module-tag long
 */
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { Destinations } from '../../infra/local/phone/destinations/routes.ts';
import { positionOf, setSwitch, switchBody } from '../../infra/local/phone/destinations/switches.ts';
import { type Mode, modes, type Server } from '../../infra/local/phone/destinations/views.ts';
import { check } from '../../infra/local/simulators/schemas.ts';
import { newRoutes } from '../../infra/local/simulators/server.ts';
import { Simulators } from '../../infra/local/simulators/simulators.ts';
import { askAt, signatureOf } from './support/simulator.ts';

const PHONE = '27821234567';
const OTHER = '27827654321';

let simulators: Simulators;
let drawn: number;

beforeEach(async () => {
  drawn = 0;
  const ports = { phone: 0, rapidpro: 0, turn: 0 };
  simulators = await Simulators.start({ ports, minute: 60_000, random: () => drawn });
  simulators.rapidpro.addChannel('c', { token: 't', guard_ms: 0 });
  simulators.turn.addNumber('n', { token: 't', bridge_token: 't' });
});

afterEach(async () => {
  vi.useRealTimers();
  await simulators.close();
});

const set = (server: Server, position: object): void =>
  setSwitch(simulators[server].faultRules, check(switchBody, position));

let count = 0;

/** Sends a message as the service would. Returns the status, or null without a response. */
const send: Record<Server, (phone: string) => Promise<number | null>> = {
  app: (to) => {
    count += 1;
    const id = `m${count}`;
    const data = { id, to, from: '447700900000', type: 'text', text: { body: 'Hi' } };
    const body = JSON.stringify({ type: 'message.send', timestamp: '2026-01-02T03:04:05.000000', data });
    const headers = signatureOf(simulators.app.secret, body, id);
    return statusOf(fetch(simulators.app.appUrl, { method: 'POST', headers, body }));
  },
  rapidpro: (phone) => {
    const body = new URLSearchParams({ from: `+${phone}`, text: 'Hi' });
    return statusOf(fetch(`${simulators.rapidpro.url}/c/ex/c/receive`, { method: 'POST', body }));
  },
  turn: (phone) => {
    count += 1;
    const id = `+${phone}`;
    const message = { type: 'text', text: { body: 'Hi' }, from: id, id: `m${count}`, timestamp: '1628345678' };
    const body = JSON.stringify({ contact: { id, profile: { name: id } }, message });
    const headers = { authorization: 'Bearer t' };
    return statusOf(fetch(`${simulators.turn.url}/v1/numbers/n/messages`, { method: 'POST', headers, body }));
  },
};

const statusOf = (response: Promise<Response>): Promise<number | null> =>
  response.then(
    ({ status }) => status,
    () => null,
  );

/** How many messages a destination has accepted. */
const accepted: Record<Server, () => number> = {
  app: () => simulators.app.inbox.accepted.length,
  rapidpro: () => simulators.rapidpro.channels.c?.received.length ?? 0,
  turn: () => simulators.turn.channels.n?.received.length ?? 0,
};

const servers: Server[] = ['app', 'rapidpro', 'turn'];
const normal = { app: 204, rapidpro: 200, turn: 200 };

const met: [mode: Mode, status: number | null | 'normal', taken: number][] = [
  ['normal', 'normal', 1],
  ['failing', 503, 0],
  ['loses_responses', null, 1],
  ['offline', null, 0],
];

test.each(servers.flatMap((server) => met.map((one) => [server, ...one] as const)))(
  'a switch of %s to %s gives a call the response %s, and accepts %s messages',
  async (server, mode, status, taken) => {
    set(server, { mode });
    expect(await send[server](PHONE)).toBe(status === 'normal' ? normal[server] : status);
    expect(accepted[server]()).toBe(taken);
    set(server, { mode: 'normal' });
    expect(await send[server](OTHER)).toBe(normal[server]);
  },
);

test.each(servers)('a switch of %s to slow delays each response, and the message is accepted', (server) => {
  set(server, { mode: 'slow' });
  expect(simulators[server].faultRules.rules).toEqual([{ delay_ms: 4_000 }]);
});

test.each(servers)('a switch of %s can affect one user alone', async (server) => {
  set(server, { mode: 'failing', phone: PHONE });
  expect([await send[server](PHONE), await send[server](OTHER)]).toEqual([503, normal[server]]);
});

test.each(servers)('a switch of %s can affect a share of the calls', async (server) => {
  set(server, { mode: 'failing', share: 0.5 });
  drawn = 0.49;
  expect(await send[server](PHONE)).toBe(503);
  drawn = 0.5;
  expect(await send[server](OTHER)).toBe(normal[server]);
});

test("RapidPro's switch for one user affects the statuses of that user's messages, too", async () => {
  set('rapidpro', { mode: 'failing', phone: PHONE });
  simulators.rapidpro.connect({ bridgeUrl: simulators.rapidpro.url });
  const sendTo = async (to: string): Promise<string> =>
    (await askAt(simulators.rapidpro.url, 'POST', '/channels/c/send', { to, text: 'Hi' })).body.id;
  const report = async (id: string) =>
    (await fetch(`${simulators.rapidpro.url}/c/ex/c/sent`, { method: 'POST', body: new URLSearchParams({ id }) }))
      .status;
  expect([await report(await sendTo(PHONE)), await report(await sendTo(OTHER))]).toEqual([503, 200]);
});

test.each(modes)('the position %s is shown as it was set, with its time unless it is normal', (mode) => {
  set('turn', { mode, ...(mode !== 'normal' && { share: 0.33, phone: PHONE }) });
  const scope = mode === 'normal' ? { share: 1, phone: null, since: null } : { share: 0.33, phone: PHONE };
  expect(positionOf(simulators.turn.faultRules)).toMatchObject({ mode, ...scope });
  expect(positionOf(simulators.turn.faultRules).since === null).toBe(mode === 'normal');
});

test('rules that a request has set are shown as other rules, and the switch replaces them', async () => {
  const rules = [{ status: 429, retry_after: 5 }];
  await askAt(simulators.rapidpro.url, 'PUT', '/behaviour', rules);
  expect(positionOf(simulators.rapidpro.faultRules)).toMatchObject({ mode: 'other' });
  await askAt(simulators.rapidpro.url, 'PUT', '/behaviour', [{ status: 503, phone: PHONE }, { drop: true }]);
  expect(positionOf(simulators.rapidpro.faultRules)).toMatchObject({ mode: 'other', phone: PHONE });
  set('rapidpro', { mode: 'normal' });
  expect((await askAt(simulators.rapidpro.url, 'GET', '/behaviour')).body).toEqual([]);
});

test('what a change does not name stays, until the switch is normal', async () => {
  set('turn', { mode: 'slow' });
  set('turn', { phone: PHONE });
  set('turn', { mode: 'failing' });
  set('turn', { share: 0.5 });
  expect(positionOf(simulators.turn.faultRules)).toMatchObject({ mode: 'failing', share: 0.5, phone: PHONE });
  set('turn', { phone: null });
  expect(positionOf(simulators.turn.faultRules)).toMatchObject({ mode: 'failing', share: 0.5, phone: null });
  set('turn', { mode: 'normal' });
  set('turn', { mode: 'offline' });
  expect(positionOf(simulators.turn.faultRules)).toMatchObject({ mode: 'offline', share: 1, phone: null });
  await askAt(simulators.turn.url, 'PUT', '/behaviour', [{ status: 418 }]);
  for (const change of [{ share: 0.5 }, { phone: PHONE }, {}]) expect(() => set('turn', change)).toThrow('Give a mode');
  set('turn', { mode: 'normal' });
  for (const change of [{ share: 0.5 }, {}]) expect(() => set('turn', change)).toThrow('Give a mode');
});

const none = { pending: 0, others: 0, next: null };
const waitingForTurn = (messages: number) => ({ app: none, rapidpro: none, turn: { ...none, pending: messages } });

/** What the page asks for, and the function that is called when it is notified that it should read again. */
const opened = (read: ConstructorParameters<typeof Destinations>[1]) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const destinations = new Destinations(simulators, read);
  const routes = newRoutes();
  destinations.addRoutes(routes);
  const watcher = vi.fn();
  destinations.changes.watch(watcher);
  return { destinations, watcher, look: () => routes.request('/view/destinations') };
};

/** How often the page is notified that it should read the destinations again, when so many messages wait for Turn. */
const notified = async (messages: number, happens: (destinations: Destinations) => void): Promise<number> => {
  const { destinations, watcher, look } = opened(async () => waitingForTurn(messages));
  expect((await look()).status).toBe(200);
  happens(destinations);
  vi.runAllTimers();
  return watcher.mock.calls.length;
};

test.each([
  ['nothing waits, and a message was delivered', 0, 0, 0],
  ['nothing waits, and an attempt failed', 0, 1, 1],
  ['a message waits, and one was delivered', 1, 0, 1],
])('%s: the page reads the destinations again, if something changes', async (_, waiting, retry_scheduled, times) => {
  const line = { message: 'deliver', retry_scheduled };
  expect(await notified(waiting, (destinations) => destinations.onLine(line))).toBe(times);
});

test('the result of an earlier read that ends after a later one does not count', async () => {
  const first = Promise.withResolvers<ReturnType<typeof waitingForTurn>>();
  const reads = [first.promise, Promise.resolve(waitingForTurn(1))];
  const { destinations, watcher, look } = opened(() => reads.shift() ?? first.promise);
  const earlier = look();
  await look();
  first.resolve(waitingForTurn(0));
  await earlier;
  destinations.onLine({ message: 'deliver', retry_scheduled: 0 });
  vi.runAllTimers();
  expect(watcher).toHaveBeenCalledOnce();
});

test('if the read after a failed attempt fails, the page reads the destinations again after a delivery', async () => {
  const read = vi.fn(async () => waitingForTurn(0));
  const { destinations, watcher, look } = opened(read);
  await look();
  destinations.onLine({ message: 'deliver', retry_scheduled: 1 });
  vi.runAllTimers();
  read.mockRejectedValueOnce(new Error('The table is busy.'));
  const printed = vi.spyOn(console, 'error').mockReturnValue();
  onTestFinished(() => printed.mockRestore());
  await look();
  destinations.onLine({ message: 'deliver', retry_scheduled: 0 });
  vi.runAllTimers();
  expect(watcher).toHaveBeenCalledTimes(2);
});

test('the page reads the destinations again when rules are set, removed, or end with their last call', async () => {
  const { faultRules } = simulators.turn;
  const setOnce = () => faultRules.set({ status: 503, times: 1 });
  expect(await notified(0, setOnce)).toBe(1);
  expect(await notified(0, () => void faultRules.match(PHONE))).toBe(1);
  expect(await notified(0, () => void faultRules.match(PHONE))).toBe(0);
  expect(await notified(0, () => faultRules.clear())).toBe(1);
});

test('the rules of a platform come before those of a channel, which stay', async () => {
  await askAt(simulators.rapidpro.url, 'PUT', '/channels/c/behaviour', [{ status: 500 }]);
  set('rapidpro', { mode: 'failing', phone: PHONE });
  expect([await send.rapidpro(PHONE), await send.rapidpro(OTHER)]).toEqual([503, 500]);
  set('rapidpro', { mode: 'normal' });
  expect(await send.rapidpro(PHONE)).toBe(500);
});

test.each([
  ['an unknown position', { mode: 'broken' }, /"mode" must be normal, slow/],
  ['no share', { mode: 'slow', share: 0 }, /"share" must be a number above 0, at most 1/],
  ['too large a share', { mode: 'slow', share: 1.5 }, /"share" must be/],
  ['a malformed number', { mode: 'slow', phone: 'x' }, /"phone" must be a phone number/],
  ['an unknown field', { mode: 'slow', delay: 1 }, /"delay" is unknown/],
])('a switch with %s is rejected', (_, position, message) => {
  expect(() => set('app', position)).toThrow(message);
});
