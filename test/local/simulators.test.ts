/** All simulators, started together. */
import { expect, test } from 'vitest';
import { freePort } from '../../infra/local/aws/loopback.ts';
import { Simulators } from '../../infra/local/simulators/simulators.ts';
import { askAt, openBridge } from './support/simulator.ts';

test('all simulators start, call the service and close', async () => {
  const bridge = await openBridge();
  const simulators = await Simulators.start({ ports: { phone: 0, rapidpro: 0, turn: 0 }, minute: 60_000 });
  simulators.connect({ bridgeUrl: bridge.url, appToken: 'bapi_app' });
  const { app, rapidpro, turn } = simulators;
  rapidpro.addChannel('c', { token: 't' });
  turn.addNumber('n', { token: 't', bridge_token: 't' });
  await askAt(app.phoneUrl, 'POST', '/events', []);
  await askAt(rapidpro.url, 'POST', '/channels/c/send', { to: '27821234567', text: 'Hi' });
  await askAt(turn.url, 'POST', '/numbers/n/send', { to: '27821234567', text: 'Hi' });
  expect(bridge.calls.map(({ url }) => url)).toEqual([
    '/v1/app/events',
    '/v1/webhook/rapidpro/',
    '/v1/webhook/turn/dA',
  ]);
  await simulators.close();
  for (const url of [app.phoneUrl, rapidpro.url, turn.url]) await expect(fetch(url)).rejects.toThrow('fetch failed');
  await bridge.close();
});

test('if one port is taken, no simulator keeps running', async () => {
  const taken = await openBridge();
  const [phone, rapidpro] = [await freePort(), await freePort()];
  const turn = Number(new URL(taken.url).port);
  await expect(Simulators.start({ ports: { phone, rapidpro, turn }, minute: 60_000 })).rejects.toThrow(
    `Port ${turn} is taken`,
  );
  for (const port of [phone, rapidpro]) await expect(fetch(`http://127.0.0.1:${port}`)).rejects.toThrow('fetch failed');
  await taken.close();
});
