/**
 * 1,000 long polls of a customer that begin at once, on the local stack: how many get a slot, and the effect on another
 * customer's requests while they begin and while they wait.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { createAccount } from '../../infra/operator/queries/accounts-admin.ts';
import { issueToken } from '../../infra/operator/queries/tokens-admin.ts';
import { FrontDoor } from './front-door.ts';
import { type Figure, quantile, report, times } from './report.ts';
import { openWhole } from './whole.ts';

/** The waits of a customer at once, and how many of them have a slot: the default of `waitsPerAccount`. */
const WAITS = 1_000;
const SLOTS = 50;
/** Users who are asked. Several waits are for the request to one. */
const USERS = 200;

const { stack, demo, close } = await openWhole(process.env.DYNAMODB_ENDPOINT || undefined);

const door = new FrontDoor(stack, demo);
await createAccount({ name: 'Another customer', id: 'another' });
const { token } = await issueToken('another', { label: 'bench', permissions: ['profilers'] });

/** Starts a request to a new user. Returns its id. */
const newRequest = async (): Promise<string> => {
  const path = { phone_number: await door.newUser() };
  const body = { reason: 'Bench', data: [{ property: 'first_name' }] };
  return ((await door.send('startUserDataRequest', { path, body })) as { requestId: string }).requestId;
};

interface Answer {
  status: string;
  results: { first_name: { timestamp: string } };
}

/** Long-polls a request. Returns the milliseconds from the approval to the response, or undefined if it is pending. */
const delayOf = async (id: string): Promise<number | undefined> => {
  const { status, results } = (await door.send('fetchUserData', {
    path: { id },
    query: { long_poll: '30' },
  })) as Answer;
  return status === 'completed' ? Date.now() - Date.parse(`${results.first_name.timestamp}Z`) : undefined;
};

/** Times in milliseconds of another customer's requests, one after the other, while `goesOn` returns true. */
const othersWhile = async (goesOn: (done: number) => boolean): Promise<number[]> => {
  const found: number[] = [];
  while (goesOn(found.length)) {
    const start = performance.now();
    await door.send('listProfilers', { token });
    found.push(performance.now() - start);
    await pause(20);
  }
  return found;
};

try {
  const ids: string[] = [];
  while (ids.length < USERS) ids.push(...(await Promise.all(Array.from({ length: 10 }, newRequest))));
  await othersWhile((done) => done < 20);
  const usual = await othersWhile((done) => done < 200);
  const start = performance.now();
  let returned = 0;
  const waits = Promise.all(
    Array.from({ length: WAITS }, async (_, index) => {
      const delay = await delayOf(ids[index % ids.length] ?? '');
      returned += 1;
      return delay;
    }),
  );
  const beginning = await othersWhile(() => returned < WAITS - SLOTS);
  const began = performance.now() - start;
  // Longer than any wait would be pointless.
  const waiting = await othersWhile((done) => done < 200 && performance.now() - start < 25_000);
  const held = WAITS - returned;
  for (const id of ids) await door.report('user_data.answered', { id, answers: { first_name: 'approved' } });
  const delays = (await waits).filter((delay) => delay !== undefined);

  const ratio = (values: number[]): Figure => ({
    what: 'ratio of the medians',
    value: quantile(values, 0.5) / quantile(usual, 0.5),
    unit: '×',
  });
  report('user data', [
    { what: `${WAITS} waits of a customer at once: those that wait`, value: held, unit: 'waits' },
    { what: 'until all others have returned', value: began / 1_000, unit: 's' },
    times('another customer before', usual),
    times('another customer while they begin', beginning),
    ratio(beginning),
    times('another customer while they wait', waiting),
    { ...ratio(waiting), goal: { atMost: 1.2 } },
    times('from the answer to the end of the wait, all answered one after the other', delays),
  ]);
} finally {
  await close();
}
