/** Receivers' circuits, step by step: when they open and close, whom they let pass, and what the log is told of it. */
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { close, findOpenCircuit } from '../../infra/operator/queries/outbox-inspection.ts';
import {
  enter,
  isFailing,
  later,
  noteFailure,
  noteSuccess,
  type Passage,
  setPause,
} from '../../shared/delivery/circuit-breaker.ts';
import { APP, receiverNameOf } from '../../shared/outbound/destination.ts';
import { documents } from '../../shared/table/client.ts';
import { captureLog } from '../support/captured-log.ts';
import { useOwnTable } from './support/own-table.ts';
import { newAccountId } from './support/world.ts';

const MINUTE = 60_000;
const NOW = Date.UTC(2030, 0, 1);
/** Milliseconds by which those who wait come later than they might, at the most. */
const SPREAD = 0.2 * MINUTE;

useOwnTable('circuit');

const written = captureLog();

beforeEach(() => void vi.useFakeTimers({ now: NOW, toFake: ['Date'] }));

afterEach(() => void vi.useRealTimers());

const newReceiver = (): string => receiverNameOf({ direction: 'platform', account: newAccountId(), phone: '' });

/** A receiver that has failed so often in a row. */
const failed = async (times: number): Promise<string> => {
  const receiver = newReceiver();
  for (let count = 0; count < times; count += 1) await noteFailure(receiver, await enter(receiver));
  return receiver;
};

const expectUntil = (passage: Passage, until: number): void => {
  if (typeof passage !== 'object') throw new Error(`It passes, as ${passage}.`);
  expect(passage.until).toBeGreaterThanOrEqual(until);
  expect(passage.until).toBeLessThanOrEqual(until + SPREAD);
};

const lines = () => written.map((line) => JSON.parse(line));

describe('a receiver', () => {
  test.each([
    [0, 'working', false],
    [1, 'failing', false],
    [2, 'failing', false],
  ])('that failed %i times in a row is used, as one that is %s', async (times, passage, failing) => {
    const receiver = await failed(times);
    expect(await enter(receiver)).toBe(passage);
    expect(await isFailing(receiver)).toBe(failing);
    expect(await findOpenCircuit(receiver)).toBeUndefined();
    expect(lines()).toEqual([]);
  });

  test('that failed three times is left alone for a minute, which is told once', async () => {
    const receiver = await failed(3);
    expectUntil(await enter(receiver), NOW + MINUTE);
    expect(await isFailing(receiver)).toBe(true);
    expect(await findOpenCircuit(receiver)).toEqual({
      receiver,
      open_until: new Date(NOW + MINUTE).toISOString(),
      failures: 3,
    });
    // Those who were under way do not keep it open.
    vi.setSystemTime(NOW + MINUTE / 2);
    await noteFailure(receiver, 'working');
    expect(await findOpenCircuit(receiver)).toMatchObject({ open_until: new Date(NOW + MINUTE).toISOString() });
    expect(lines()).toMatchObject([
      { level: 'warn', message: 'circuit opened', direction: 'platform', receiver, circuits_opened: 1 },
    ]);
  });

  test('is tried by one of all when its time has come; the others wait for that one', async () => {
    const receiver = await failed(3);
    vi.setSystemTime(NOW + MINUTE);
    const passages = await Promise.all([enter(receiver), enter(receiver), enter(receiver)]);
    expect(passages.filter((passage) => passage === 'trial')).toHaveLength(1);
    for (const passage of passages) if (passage !== 'trial') expectUntil(passage, NOW + 2 * MINUTE);
  });

  test('is waited for by one who comes a moment after the one that tries it', async () => {
    const receiver = await failed(3);
    vi.setSystemTime(NOW + MINUTE);
    const send = documents.send.bind(documents);
    vi.spyOn(documents, 'send').mockImplementation(async (command) => {
      if (command instanceof UpdateCommand) {
        vi.mocked(documents.send).mockRestore();
        expect(await enter(receiver)).toBe('trial');
      }
      return send(command);
    });
    expectUntil(await enter(receiver), NOW + 2 * MINUTE);
  });

  test('is left alone for 2, then 10 minutes each time that trying fails, and nothing more is told', async () => {
    const receiver = await failed(3);
    for (const [trials, minutes] of [
      [1, 2],
      [2, 10],
      [3, 10],
    ] as const) {
      vi.setSystemTime((await findOpenCircuit(receiver))?.open_until ?? '');
      expect(await enter(receiver)).toBe('trial');
      await noteFailure(receiver, 'trial');
      expect(await findOpenCircuit(receiver)).toEqual({
        receiver,
        open_until: new Date(Date.now() + minutes * MINUTE).toISOString(),
        failures: 3 + trials,
      });
    }
    expect(lines()).toHaveLength(1);
  });

  test('that works when it is tried is used again, which is told', async () => {
    const receiver = await failed(3);
    vi.setSystemTime(NOW + MINUTE);
    await noteSuccess(receiver, await enter(receiver));
    expect(await enter(receiver)).toBe('working');
    expect(await isFailing(receiver)).toBe(false);
    expect(lines().slice(1)).toMatchObject([
      { level: 'info', message: 'circuit closed', direction: 'platform', receiver, circuits_closed: 1 },
    ]);
  });

  test('that works again after a failure is told of to nobody, and begins anew', async () => {
    const receiver = await failed(2);
    await noteSuccess(receiver, await enter(receiver));
    expect(await enter(receiver)).toBe('working');
    await noteFailure(receiver, 'working');
    expect(await enter(receiver)).toBe('failing');
    expect(lines()).toEqual([]);
  });

  test('that works is looked at by nobody', async () => {
    const receiver = await failed(1);
    await noteSuccess(receiver, 'working');
    expect(await enter(receiver)).toBe('failing');
  });

  test('that asks for fewer calls is paused as long, and has not failed', async () => {
    const receiver = newReceiver();
    await setPause(receiver, NOW + 5_000);
    expect(await enter(receiver)).toEqual({ until: NOW + 5_000, cause: 'rate_limited' });
    expect(await isFailing(receiver)).toBe(false);
    expect(await findOpenCircuit(receiver)).toBeUndefined();
    expect(lines()).toEqual([]);
  });

  test('is used by all after its pause, as one that works', async () => {
    const receiver = newReceiver();
    await setPause(receiver, NOW + 5_000);
    vi.setSystemTime(NOW + 5_000);
    for (let times = 0; times < 3; times += 1) expect(await enter(receiver)).toBe('working');
  });

  test('is paused for the longest time that it asked for, and a success of somebody under way does not end the pause', async () => {
    const receiver = await failed(1);
    await setPause(receiver, NOW + 9_000);
    await setPause(receiver, NOW + 5_000);
    await noteSuccess(receiver, 'failing');
    expect(await enter(receiver)).toEqual({ until: NOW + 9_000, cause: 'rate_limited' });
  });

  test('that is tried, though the response of the table to the election is lost, is tried by the one elected', async () => {
    const receiver = await failed(3);
    vi.setSystemTime(NOW + MINUTE);
    const send = documents.send.bind(documents);
    vi.spyOn(documents, 'send').mockImplementation(async (command) => {
      // As the client repeats a call that got no response.
      if (command instanceof UpdateCommand) await send(command);
      return send(command);
    });
    expect(await enter(receiver)).toBe('trial');
    vi.mocked(documents.send).mockRestore();
  });

  test('is used again at once where someone says so', async () => {
    const receiver = await failed(3);
    await close(receiver);
    expect(await enter(receiver)).toBe('working');
  });
});

/** An item that has expired stays in the table until TTL removes it, up to two days later. */
describe('a circuit that has expired, though the table still has it', () => {
  const DAY = 24 * 60 * MINUTE;

  /** A receiver that failed so often, more than a day ago. */
  const failedLongAgo = async (times: number): Promise<string> => {
    const receiver = await failed(times);
    vi.setSystemTime(NOW + DAY + 1_000);
    return receiver;
  };

  test('counts for nobody', async () => {
    const receiver = await failedLongAgo(4);
    expect(await enter(receiver)).toBe('working');
    expect(await isFailing(receiver)).toBe(false);
    expect(await findOpenCircuit(receiver)).toBeUndefined();
  });

  test('adds nothing to the failures that follow', async () => {
    const receiver = await failedLongAgo(2);
    for (let times = 1; times < 3; times += 1) {
      await noteFailure(receiver, 'working');
      expect(await enter(receiver)).toBe('failing');
    }
    await noteFailure(receiver, 'working');
    expect(await findOpenCircuit(receiver)).toMatchObject({ failures: 3 });
  });

  test('is not brought back by a pause', async () => {
    const receiver = await failedLongAgo(3);
    await setPause(receiver, Date.now() + 5_000);
    expect(await enter(receiver)).toMatchObject({ cause: 'rate_limited' });
    expect(await isFailing(receiver)).toBe(false);
    vi.setSystemTime(Date.now() + 5_000);
    expect(await enter(receiver)).toBe('working');
  });
});

test('the app network is one receiver, and is told of as such', async () => {
  const name = receiverNameOf({ direction: 'app', account: 'acme', phone: '27821234567' });
  expect(name).toBe(APP);
  for (let count = 0; count < 3; count += 1) await noteFailure(name, 'working');
  expect(lines()).toMatchObject([{ message: 'circuit opened', direction: 'app', receiver: 'app' }]);
  await close(name);
});

test('those who wait come at most a fifth of a minute late, and not all at once', () => {
  const times = Array.from({ length: 50 }, () => later(NOW));
  expect(Math.min(...times)).toBeGreaterThanOrEqual(NOW);
  expect(Math.max(...times)).toBeLessThanOrEqual(NOW + SPREAD);
  expect(new Set(times).size).toBeGreaterThan(1);
});
