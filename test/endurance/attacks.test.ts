/**
 * Six minutes of an attack by one customer, at the default limits, against the workers and limits that all customers share. The
 * same minutes are played without the attack. What counts is another customer's work: how many runs of the workers, and units
 * of these runs, are between its due time and its start.
 *
 * All time limits of the workers are those of a deployment, but a call of the table takes forty times as long. So an attack
 * needs a fortieth of the size, and of the default rate. `SIZES` says which bound each part exceeds.
 */
import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { seeded } from '../../infra/local/seeded.ts';
import { createAccount, updateAccount } from '../../infra/operator/queries/accounts-admin.ts';
import { registerUser } from '../../infra/operator/queries/users-admin.ts';
import { Leases } from '../../shared/accounts/rate-limit/leases.ts';
import { scheduleMessage, sendToMany } from '../../shared/campaigns/accept.ts';
import type { BatchItem, Chunk } from '../../shared/campaigns/batch.ts';
import { batchKey, batchOf, chunkKey, ofPendingBatch } from '../../shared/campaigns/entities.ts';
import { newBatchId } from '../../shared/campaigns/ids.ts';
import { readBatch } from '../../shared/campaigns/stored-batch.ts';
import { newId, newUnguessableId } from '../../shared/core/ids.ts';
import { slotOf as waitSlotOf } from '../../shared/http/wait-slot.ts';
import { erasureKey } from '../../shared/messaging/entities.ts';
import { cancelJob } from '../../shared/messaging/jobs/cancel.ts';
import { receiveMessage } from '../../shared/messaging/receive.ts';
import { sendMessage } from '../../shared/messaging/send.ts';
import { conversationName, headKey } from '../../shared/outbox/entities.ts';
import { groupIndexOf } from '../../shared/outbox/wake-ups/conversations.ts';
import { getConsistent, page } from '../../shared/table/client.ts';
import { dueAt, type Key } from '../../shared/table/keys.ts';
import { removeUser } from '../../shared/user-data/erasure.ts';
import { useAppNetworkServer } from '../stack/support/app-network-server.ts';
import { consumedBy } from '../stack/support/consumed.ts';
import { DestinationServer } from '../stack/support/destination-server.ts';
import { putAll } from '../stack/support/many-items.ts';
import { useOwnTable } from '../stack/support/own-table.ts';
import { historyOf, logOf } from '../stack/support/user-history.ts';
import { captureLog } from '../support/captured-log.ts';
import { useFakeQueue } from '../unit/support/fake-queue.ts';
import { endPlay, Piece, PlayedWorkers, passUntil, type Run, SLOWNESS } from './support/played-workers.ts';

vi.mock('node:timers/promises', () => ({
  setTimeout: async (milliseconds = 0) => {
    const end = Date.now() + milliseconds;
    await new Promise((resolve) => (vi.isFakeTimers() ? setImmediate(resolve) : setTimeout(resolve, milliseconds)));
    passUntil(end);
  },
}));

useOwnTable('attacks');
captureLog();

const queue = useFakeQueue();
const app = useAppNetworkServer();

const [SECOND, MINUTE] = [1_000, 60_000];
const NOW = Date.UTC(2030, 0, 1, 12);
/** The attack delays work of the first five. */
const MINUTES = 6;

/** A fortieth of the default limit of requests. */
const RATE = { rate: 100 / SLOWNESS, burst: 200 / SLOWNESS };
/** Long polls of a customer, and of all together: a tenth of the defaults. A quarter of the attacker's requests are such. */
const WAITS = { WAITS_PER_ACCOUNT: '5', WAITS_IN_ALL: '50' };
/** Workers at once: as many as the sixteen groups of a slow server could take; and the fewest of a deployment. */
const WORKERS = { deliver: 16, expand: 2 };

const SIZES = {
  /** Batches of a cancelled job: more than a page of 500. They take 20 runs of five seconds; one by one, 24 min. */
  cancelled: 600,
  /** Batches that stay pending: with the others, three pages. If an erasure read them one after the other, 8 min. */
  pending: 600,
  /**
   * Users who are erased at once: more than the eight at a time. With their delivery attempts and log entries, each takes four
   * steps of eight pages of 50. A run ends before all steps of one.
   */
  erased: 9,
  history: 1_250,
  log: 250,
  /** Conversations that are due at once in one partition of the index: three pages of 150. */
  crowded: 450,
  /** Conversations that are due at once in any partition: their groups fill all workers 18 times. */
  spread: 300,
  /** Users whose messages fail, and users who write to the customer's slow server. */
  failing: 60,
  writing: 60,
};

const ATTACKER = { id: 'attacker', bot: '27700000000' };

let webhook: DestinationServer;

beforeAll(async () => {
  webhook = await DestinationServer.start();
});

afterAll(() => webhook.close());

afterEach(() => {
  endPlay();
  vi.useRealTimers();
});

const hello = { type: 'text' as const, text: { body: 'Hello' } };

/** Returns a function for new phone numbers with this prefix. */
const numbersFrom = (prefix: number) => {
  let count = 0;
  return (): string => {
    count += 1;
    return `${prefix}${String(count).padStart(7, '0')}`;
  };
};

const manyOf = <Item>(count: number, next: () => Item): Item[] => Array.from({ length: count }, next);

/** Creates a customer with a webhook. */
const create = async ({ id, bot }: typeof ATTACKER): Promise<void> => {
  await createAccount({ name: 'Test', id, bot_number: bot });
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  await updateAccount(id, { platform: { name: 'webhook', settings: { url: `${webhook.url}?${id}`, secret } } });
};

const nameOf = (account: string, phone: string): string => conversationName({ direction: 'app', account, phone });

/** Only numbers of users whose conversations are due in the first partition of the index. */
const inFirstPartition = (account: string, next: () => string) => (): string => {
  for (;;) {
    const phone = next();
    const { gsi1pk } = dueAt('conversations', { account, id: nameOf(account, phone), time: '' });
    if (gsi1pk.endsWith('#0')) return phone;
  }
};

/** Schedules a batch to two users for tomorrow, and copies its items so that there are so many. */
const scheduleMany = async (account: string, job_id: string, to: string[], count: number): Promise<void> => {
  await sendToMany(account, { to, ...hello }, { job_id, send_at: NOW + 1_440 * MINUTE });
  const { items } = await page<Key>({
    IndexName: 'gsi3',
    KeyConditionExpression: 'gsi3pk = :account',
    FilterExpression: 'job_id = :job',
    ExpressionAttributeValues: {
      ':account': ofPendingBatch(account, { id: '', rank: 1, due: '' }).gsi3pk,
      ':job': job_id,
    },
    ProjectionExpression: 'pk, sk',
  });
  const batch = items[0] && (await readBatch(account, batchOf(items[0]).batch));
  const chunk = batch && (await getConsistent<Chunk>(chunkKey(batch.upload, 0)));
  if (batch === undefined || chunk === undefined) throw new Error('There is no batch.');
  const copies = manyOf(count - 1, () => {
    const [id, upload] = [newBatchId(), newUnguessableId()];
    const key = batchKey(account, id);
    const copy: BatchItem = {
      ...batch,
      ...{ ...key, id, upload },
      ...dueAt('expansions', { account, id: key.pk, time: batch.due }),
      ...ofPendingBatch(account, { id, rank: 1, due: batch.due }),
    };
    return [copy, { ...chunk, ...chunkKey(upload, 0) }];
  });
  await putAll(copies.flat());
};

/** Prepares the attack, and plans what the attacker does in these minutes. */
const attack = async (workers: PlayedWorkers, leases: Leases): Promise<void> => {
  const { id, bot } = ATTACKER;
  await create(ATTACKER);
  const job = newId();
  const recipients = manyOf(2, numbersFrom(2771));
  await scheduleMany(id, job, recipients, SIZES.cancelled);
  await scheduleMany(id, newId(), recipients, SIZES.pending);
  const erased = manyOf(SIZES.erased, numbersFrom(2772));
  for (const phone of erased) {
    await registerUser({ phone_number: phone });
    const past = { account: id, phone, at: NOW - 10 * MINUTE };
    await putAll([...logOf({ ...past, count: SIZES.log }), ...historyOf({ ...past, count: SIZES.history })]);
  }
  // The play has not begun, so that nothing wakes them until `sweep` finds them.
  vi.setSystemTime(NOW - 5 * MINUTE);
  const due = [
    ...manyOf(SIZES.crowded, inFirstPartition(id, numbersFrom(2773))),
    ...manyOf(SIZES.spread, numbersFrom(2774)),
  ];
  for (const to of due) await sendMessage(id, { to, ...hello }, {});
  vi.setSystemTime(NOW);

  workers.at(NOW, () => cancelJob(id, job));
  for (const phone of erased) workers.at(NOW, () => removeUser(newId(), phone));
  const [failing, writing] = [manyOf(SIZES.failing, numbersFrom(2775)), manyOf(SIZES.writing, numbersFrom(2776))];
  let requests = 0;
  // Twice as many requests as the limit admits.
  for (let time = NOW; time < NOW + MINUTES * MINUTE; time += SECOND / (2 * RATE.rate)) {
    workers.at(time, async () => {
      const admission = await leases.admit(id, RATE);
      if (!admission.isAdmitted) return;
      await admission.renewal;
      requests += 1;
      if (requests % 4 === 0) await waitSlotOf(id, Date.now() + 28 * SECOND).take();
      else await sendMessage(id, { to: failing[requests % failing.length] ?? '', ...hello }, {});
    });
  }
  for (let second = 0; second < MINUTES * 60; second += 1) {
    const from = writing[second % writing.length] ?? '';
    workers.at(NOW + second * SECOND, () => receiveMessage(newId(), { from, to: bot, ...hello }));
  }
};

/** The other customer's work that waits for something, by the user's number or the key of the erasure. */
const newWaiting = () => ({
  app: new Map<string, Piece>(),
  webhook: new Map<string, Piece>(),
  erasure: new Map<string, Piece>(),
  end: new Map<string, Piece>(),
});

type Waiting = ReturnType<typeof newWaiting>;

/** Notes what starts: by requests to the app network and to webhooks, and by calls of the table. */
const watch = (workers: PlayedWorkers, waiting: Waiting): void => {
  app().answers = [
    (response) => {
      const { from, to } = app().calls.at(-1)?.json.data ?? {};
      waiting.app.get(to)?.start();
      response.writeHead(from === ATTACKER.bot ? 500 : 204).end();
    },
  ];
  webhook.answers = [
    (response) => {
      const { path, json } = webhook.calls.at(-1) ?? {};
      if (path?.endsWith(ATTACKER.id)) passUntil(Date.now() + 9 * SECOND);
      else waiting.webhook.get(json?.message?.from)?.start();
      response.writeHead(200).end();
    },
  ];
  workers.watch = ({ Key, UpdateExpression, ConditionExpression }) => {
    // Its data is gone; and at its end, the mark of its number.
    if (UpdateExpression === 'SET gsi1sk = :until REMOVE #position') waiting.erasure.get(Key?.pk ?? '')?.start();
    if (ConditionExpression?.endsWith('gsi1pk = :marked')) waiting.end.get(Key?.pk ?? '')?.start();
  };
};

/** Plans the other customer's work: in each minute, a piece of each kind. */
const work = (workers: PlayedWorkers, leases: Leases, { id, bot }: typeof ATTACKER): void => {
  const waiting = newWaiting();
  watch(workers, waiting);
  const [next, nextLost] = [numbersFrom(2780), inFirstPartition(id, numbersFrom(2781))];
  const lost = new Set<string>();
  workers.loses = ({ pk }) => lost.has(pk);
  const groupOf = (phone: string, direction: 'app' | 'platform'): string =>
    `${direction}#${id}#${groupIndexOf({ direction, account: id, phone })}`;
  const needing =
    (...names: string[]) =>
    ({ worker, group = worker }: Run): boolean =>
      names.includes(group);
  const plan = (piece: Piece): Piece => {
    workers.pieces.push(piece);
    return piece;
  };
  /** What starts at once, if it starts. */
  const startNow = async (kind: string, isStarted: () => Promise<boolean>): Promise<void> => {
    const piece = plan(new Piece(kind, Date.now(), () => false));
    const { table } = await consumedBy(async () => {
      if (await isStarted()) piece.start();
    });
    piece.units = table;
  };

  for (let minute = NOW; minute < NOW + MINUTES * MINUTE; minute += MINUTE) {
    const at = (second: number, begin: (time: number) => Promise<unknown>): void =>
      workers.at(minute + second * SECOND, () => begin(minute + second * SECOND));
    at(5, async (time) => {
      const to = next();
      waiting.app.set(to, plan(new Piece('message', time, needing(groupOf(to, 'app')))));
      await sendMessage(id, { to, ...hello }, {});
    });
    at(7, async (time) => {
      const from = next();
      waiting.webhook.set(from, plan(new Piece('webhook event', time, needing(groupOf(from, 'platform')))));
      await receiveMessage(newId(), { from, to: bot, ...hello });
    });
    at(11, async (time) => {
      const to = nextLost();
      const due = time + MINUTE;
      lost.add(headKey(nameOf(id, to)).pk);
      const needs = needing('sweep conversations', groupOf(to, 'app'));
      waiting.app.set(to, plan(new Piece('message after a lost wake-up', due, needs)));
      await sendMessage(id, { to, ...hello }, {});
    });
    at(15, (time) => startNow('long poll', async () => waitSlotOf(id, time + 28 * SECOND).take()));
    at(17, () => startNow('request', async () => (await leases.admit(id, RATE)).isAdmitted));
    at(50, async (time) => {
      const to = next();
      const send_at = time + 65 * SECOND;
      const needs = needing('sweep expansions', id, groupOf(to, 'app'));
      waiting.app.set(to, plan(new Piece('scheduled message', send_at, needs)));
      await scheduleMessage(id, { to, ...hello }, { send_at });
    });
    const leaving = next();
    at(25, async () => {
      await registerUser({ phone_number: leaving });
      await sendMessage(id, { to: leaving, ...hello }, {});
    });
    at(40, async (time) => {
      const { pk } = erasureKey(leaving);
      waiting.erasure.set(pk, plan(new Piece('erasure of a user', time, needing('erase erasures'))));
      waiting.end.set(pk, plan(new Piece('end of an erasure', time + 2 * MINUTE, needing('erase batches'))));
      await removeUser(newId(), leaving);
    });
  }
};

/** Plays the minutes. Returns the other customer's work, by its kind. */
const play = async (customer: typeof ATTACKER, isAttacked: boolean) => {
  vi.setSystemTime(NOW);
  const workers = new PlayedWorkers(queue, WORKERS);
  const leases = new Leases();
  await create(customer);
  if (isAttacked) await attack(workers, leases);
  work(workers, leases, customer);
  // Erasures of the last minute end within four minutes.
  await workers.playUntil(NOW + (MINUTES + 5) * MINUTE);
  return { failures: workers.failures, pieces: Map.groupBy(workers.pieces, ({ kind }) => kind) };
};

const max = (values: number[]): number => Math.max(...values);

/**
 * What each kind of work may wait for in an attack, beside the runs that it needs anyway: units that others consume before it
 * in shared runs; and seconds of the simulated clock. Once in a minute, `sweep` may wake all conversations of the attacker that
 * are due: 16 workers take up to 50 s for them.
 */
const BOUNDS = {
  message: { units: 0, seconds: 50 },
  'webhook event': { units: 0, seconds: 50 },
  // A page of each account in eight partitions.
  'scheduled message': { units: 50, seconds: 50 },
  // A page of each account in 64 partitions.
  'message after a lost wake-up': { units: 50, seconds: 50 },
  // A step of each erasure that is due, eight at a time: eight pages of 50.
  'erasure of a user': { units: 9 * 2_500, seconds: 30 },
  // All pending batches, twice: a pass that has begun before is completed first.
  'end of an erasure': { units: 6_000, seconds: 60 },
  'long poll': { units: 0, seconds: 1 },
  request: { units: 0, seconds: 1 },
};

// Not repeated: the table contains what the first attempt has left.
test("an attack at the default limits does not add a run to another customer's work, and only its turns to the units", {
  retry: 0,
  timeout: 600_000,
}, async () => {
  vi.useFakeTimers({ now: NOW, toFake: ['Date'] });
  vi.spyOn(Math, 'random').mockImplementation(seeded(1));
  for (const [name, value] of Object.entries({ ...WAITS, MINUTE: String(MINUTE) })) vi.stubEnv(name, value);
  const undisturbed = await play({ id: 'other', bot: '27800000000' }, false);
  const attacked = await play({ id: 'other-attacked', bot: '27800000001' }, true);
  expect(undisturbed.failures).toEqual([]);
  expect(attacked.failures).toEqual([]);
  expect([...undisturbed.pieces.keys()].toSorted()).toEqual(Object.keys(BOUNDS).toSorted());
  for (const [kind, more] of Object.entries(BOUNDS)) {
    const [before, during] = [undisturbed, attacked].map(({ pieces }) => pieces.get(kind) ?? []);
    expect(during, kind).toHaveLength(MINUTES);
    const worst = (of: (piece: Piece) => number) => [max((before ?? []).map(of)), max((during ?? []).map(of))] as const;
    const [runs, runsInAttack] = worst((piece) => piece.runs);
    expect(runsInAttack, `runs: ${kind}`).toBe(runs);
    const [units, unitsInAttack] = worst((piece) => piece.units);
    expect(unitsInAttack, `units: ${kind}`).toBeLessThanOrEqual(units + more.units);
    const [seconds, secondsInAttack] = worst((piece) => piece.seconds);
    expect(secondsInAttack, `seconds: ${kind}`).toBeLessThanOrEqual(seconds + more.seconds);
  }
});
