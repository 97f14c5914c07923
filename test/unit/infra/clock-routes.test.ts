/** The requests that set the clock of the local stack. */
import { expect, test } from 'vitest';
import { Clock } from '../../../infra/local/aws/time/clock.ts';
import { ClockRequests } from '../../../infra/local/clock/routes.ts';
import { Changes } from '../../../infra/local/simulators/changes.ts';

const DAY_S = 86_400;

/** The routes of a clock, of a stack that has no work, or that works while `release` is not called. */
const serve = (busy: () => boolean = () => false) => {
  const clock = new Clock();
  const inProgress = () => (busy() ? ('work' as const) : undefined);
  const nextDue = () => undefined;
  const setClock = (time: number) => clock.set(time);
  const readNow = () => undefined;
  const closeBatches = () => undefined;
  const watchDueWork = () => ({ next: async () => undefined, needs: () => true, end: () => undefined });
  const changes = new Changes();
  const moving = { clock, setClock, inProgress, nextDue, readNow, closeBatches, watchDueWork, minute: 60_000 };
  const { routes } = new ClockRequests(moving, changes);
  const send = async (body?: unknown) => {
    const response = await routes.request('/clock', body === undefined ? {} : { method: 'POST', body: text(body) });
    return { status: response.status, body: (await response.json()) as { time: string; moving: boolean } };
  };
  return { clock, changes, send };
};

const text = (body: unknown): string => (typeof body === 'string' ? body : JSON.stringify(body));

test.each([
  [{ advance: 'soon' }, 422, '"advance" must be a duration, such as 3d, 90m or 1d12h.'],
  [{ set: '2027-01-31' }, 422, '"set" must be a time with its zone, such as 2027-01-31T09:00Z.'],
  [{ set: '2020-01-31T09:00Z' }, 422, 'The clock only moves ahead.'],
  [{ run: 0 }, 422, '"run" must be a number from 1 to 10000.'],
  [{ run: 1e9 }, 422, '"run" must be a number from 1 to 10000.'],
  [{ real: false }, 422, '"real" must be true.'],
  [{}, 422, 'one of the fields advance, set, run and real'],
  [{ advance: '1d', run: 2 }, 422, 'one of the fields advance, set, run and real'],
  [{ back: '1d' }, 422, '"back" is unknown'],
  ['no JSON', 400, 'The body must be JSON.'],
])('%j returns %i and moves nothing', async (body, status, message) => {
  const { clock, send } = serve();
  expect(await send(body)).toMatchObject({ status, body: { message: expect.stringContaining(message) } });
  expect(clock.offset).toBe(0);
});

test('while the clock moves ahead, it cannot be set', async () => {
  let isBusy = true;
  const { send } = serve(() => isBusy);
  const first = send({ advance: '1d' });
  await expect.poll(async () => (await send()).body.moving).toBe(true);
  expect(await send({ real: true })).toMatchObject({ status: 409 });
  isBusy = false;
  expect(await first).toMatchObject({ status: 200, body: { moving: false, ahead_s: DAY_S } });
});
