/** The throttle of a route, as the local stack's gateway has it. */
import { expect, test } from 'vitest';
import { Clock } from '../../../../infra/local/aws/time/clock.ts';
import { api } from '../../../../shared/api/index.ts';
import { serveOwnStack } from '../../support/own-stack.ts';

/** A clock that only the test moves ahead. */
class StoppedClock extends Clock {
  present = Date.now();

  override now(): number {
    return this.present;
  }
}

const { rate, burst } = api.createSession.throttle;

test('a route with a throttle rejects further requests with 429, and other routes do not', async () => {
  const clock = new StoppedClock();
  const { stack } = await serveOwnStack({ name: 'throttle', minute: 60_000, clock });
  const signIn = () =>
    fetch(`${stack.baseUrl}/v1/sessions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ code: 'unknown' }),
    });
  /** How many of so many requests at the same time get each status. */
  const statusesOf = async (count: number) => {
    const responses = await Promise.all(Array.from({ length: count }, signIn));
    const counts = Map.groupBy(responses, ({ status }) => status);
    return Object.fromEntries([...counts].map(([status, those]) => [status, those.length]));
  };
  expect(await statusesOf(burst + 5)).toEqual({ 404: burst, 429: 5 });
  const response = await signIn();
  expect([response.status, await response.json()]).toEqual([429, { message: 'Too Many Requests' }]);
  expect((await fetch(`${stack.baseUrl}/v1/openapi.json`)).status).toBe(200);
  clock.present += 1_000;
  expect(await statusesOf(rate + 1)).toEqual({ 404: rate, 429: 1 });
  clock.present += 3_600_000;
  expect(await statusesOf(burst + 1)).toEqual({ 404: burst, 429: 1 });
});
