/** Receivers' circuits, step by step: when they open and close, whom they let pass, and what the log is told of it. */
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { findOpenCircuit, resetCircuit } from '../../../infra/operator/queries/outbox-inspection.ts';
import {
  acquire,
  type CircuitState,
  isFailing,
  later,
  recordFailure,
  recordSuccess,
  setPause,
} from '../../../shared/delivery/circuit-breaker.ts';
import { APP_NETWORK_DESTINATION, destinationNameOf } from '../../../shared/outbound/destination.ts';
import { documents } from '../../../shared/table/client.ts';
import { captureLog } from '../../support/captured-log.ts';
import { useOwnTable } from '../support/own-table.ts';
import { newAccountId } from '../support/world.ts';

const MINUTE = 60_000;
const NOW = Date.UTC(2030, 0, 1);
/** Milliseconds by which those who wait come later than they might, at the most. */
const SPREAD = 0.2 * MINUTE;

useOwnTable('circuit');

const written = captureLog();

beforeEach(() => void vi.useFakeTimers({ now: NOW, toFake: ['Date'] }));

afterEach(() => void vi.useRealTimers());

const newDestination = (): string => destinationNameOf({ direction: 'platform', account: newAccountId() });

/** A destination that has failed so often in a row. */
const failed = async (times: number): Promise<string> => {
  const destination = newDestination();
  for (let count = 0; count < times; count += 1) await recordFailure(destination, await acquire(destination));
  return destination;
};

const expectUntil = (circuit: CircuitState, until: number): void => {
  if (typeof circuit !== 'object') throw new Error(`It passes, as ${circuit}.`);
  expect(circuit.until).toBeGreaterThanOrEqual(until);
  expect(circuit.until).toBeLessThanOrEqual(until + SPREAD);
};

const lines = () => written.map((line) => JSON.parse(line));

describe('a destination', () => {
  test.each([
    [0, 'closed', false],
    [1, 'degraded', false],
    [2, 'degraded', false],
  ])('that failed %i times in a row is used, as one that is %s', async (times, circuit, failing) => {
    const destination = await failed(times);
    expect(await acquire(destination)).toBe(circuit);
    expect(await isFailing(destination)).toBe(failing);
    expect(await findOpenCircuit(destination)).toBeUndefined();
    expect(lines()).toEqual([]);
  });

  test('that failed three times has an open circuit for a minute, which is told once', async () => {
    const destination = await failed(3);
    expectUntil(await acquire(destination), NOW + MINUTE);
    expect(await isFailing(destination)).toBe(true);
    expect(await findOpenCircuit(destination)).toEqual({
      destination,
      open_until: new Date(NOW + MINUTE).toISOString(),
      failures: 3,
    });
    // Those who were under way do not keep it open.
    vi.setSystemTime(NOW + MINUTE / 2);
    await recordFailure(destination, 'closed');
    expect(await findOpenCircuit(destination)).toMatchObject({ open_until: new Date(NOW + MINUTE).toISOString() });
    expect(lines()).toMatchObject([
      { level: 'warn', message: 'circuit opened', direction: 'platform', destination, circuits_opened: 1 },
    ]);
  });

  test('is tried by one of all when its time has come; the others wait for that one', async () => {
    const destination = await failed(3);
    vi.setSystemTime(NOW + MINUTE);
    const circuits = await Promise.all([acquire(destination), acquire(destination), acquire(destination)]);
    expect(circuits.filter((circuit) => circuit === 'half_open')).toHaveLength(1);
    for (const circuit of circuits) if (circuit !== 'half_open') expectUntil(circuit, NOW + 2 * MINUTE);
  });

  test('is waited for by one who comes a moment after the one that tries it', async () => {
    const destination = await failed(3);
    vi.setSystemTime(NOW + MINUTE);
    const send = documents.send.bind(documents);
    vi.spyOn(documents, 'send').mockImplementation(async (command) => {
      if (command instanceof UpdateCommand) {
        vi.mocked(documents.send).mockRestore();
        expect(await acquire(destination)).toBe('half_open');
      }
      return send(command);
    });
    expectUntil(await acquire(destination), NOW + 2 * MINUTE);
  });

  test('has an open circuit for 2, then 10 minutes each time that trying fails, and nothing more is told', async () => {
    const destination = await failed(3);
    for (const [trials, minutes] of [
      [1, 2],
      [2, 10],
      [3, 10],
    ] as const) {
      vi.setSystemTime((await findOpenCircuit(destination))?.open_until ?? '');
      expect(await acquire(destination)).toBe('half_open');
      await recordFailure(destination, 'half_open');
      expect(await findOpenCircuit(destination)).toEqual({
        destination,
        open_until: new Date(Date.now() + minutes * MINUTE).toISOString(),
        failures: 3 + trials,
      });
    }
    expect(lines()).toHaveLength(1);
  });

  test('that works when it is tried is used again, which is told', async () => {
    const destination = await failed(3);
    vi.setSystemTime(NOW + MINUTE);
    await recordSuccess(destination, await acquire(destination));
    expect(await acquire(destination)).toBe('closed');
    expect(await isFailing(destination)).toBe(false);
    expect(lines().slice(1)).toMatchObject([
      { level: 'info', message: 'circuit closed', direction: 'platform', destination, circuits_closed: 1 },
    ]);
  });

  test('that works again after a failure is notified of to nobody, and begins anew', async () => {
    const destination = await failed(2);
    await recordSuccess(destination, await acquire(destination));
    expect(await acquire(destination)).toBe('closed');
    await recordFailure(destination, 'closed');
    expect(await acquire(destination)).toBe('degraded');
    expect(lines()).toEqual([]);
  });

  test('that works is looked at by nobody', async () => {
    const destination = await failed(1);
    await recordSuccess(destination, 'closed');
    expect(await acquire(destination)).toBe('degraded');
  });

  test('that asks for fewer calls is paused as long, and has not failed', async () => {
    const destination = newDestination();
    await setPause(destination, NOW + 5_000);
    expect(await acquire(destination)).toEqual({ until: NOW + 5_000, cause: 'rate_limited' });
    expect(await isFailing(destination)).toBe(false);
    expect(await findOpenCircuit(destination)).toBeUndefined();
    expect(lines()).toEqual([]);
  });

  test('is used by all after its pause, as one that works', async () => {
    const destination = newDestination();
    await setPause(destination, NOW + 5_000);
    vi.setSystemTime(NOW + 5_000);
    for (let times = 0; times < 3; times += 1) expect(await acquire(destination)).toBe('closed');
  });

  test('is paused for the longest time that it asked for, and a success of somebody under way does not end the pause', async () => {
    const destination = await failed(1);
    await setPause(destination, NOW + 9_000);
    await setPause(destination, NOW + 5_000);
    await recordSuccess(destination, 'degraded');
    expect(await acquire(destination)).toEqual({ until: NOW + 9_000, cause: 'rate_limited' });
  });

  test('that is tried, though the response of the table to the election is lost, is tried by the one elected', async () => {
    const destination = await failed(3);
    vi.setSystemTime(NOW + MINUTE);
    const send = documents.send.bind(documents);
    vi.spyOn(documents, 'send').mockImplementation(async (command) => {
      // As the client repeats a call that got no response.
      if (command instanceof UpdateCommand) await send(command);
      return send(command);
    });
    expect(await acquire(destination)).toBe('half_open');
    vi.mocked(documents.send).mockRestore();
  });

  test('is used again at once where someone says so', async () => {
    const destination = await failed(3);
    await resetCircuit(destination);
    expect(await acquire(destination)).toBe('closed');
  });
});

/** An item that has expired stays in the table until TTL removes it, up to two days later. */
describe('a circuit that has expired, though the table still has it', () => {
  const DAY = 24 * 60 * MINUTE;

  /** A destination that failed so often, more than a day ago. */
  const failedLongAgo = async (times: number): Promise<string> => {
    const destination = await failed(times);
    vi.setSystemTime(NOW + DAY + 1_000);
    return destination;
  };

  test('counts for nobody', async () => {
    const destination = await failedLongAgo(4);
    expect(await acquire(destination)).toBe('closed');
    expect(await isFailing(destination)).toBe(false);
    expect(await findOpenCircuit(destination)).toBeUndefined();
  });

  test('adds nothing to the failures that follow', async () => {
    const destination = await failedLongAgo(2);
    for (let times = 1; times < 3; times += 1) {
      await recordFailure(destination, 'closed');
      expect(await acquire(destination)).toBe('degraded');
    }
    await recordFailure(destination, 'closed');
    expect(await findOpenCircuit(destination)).toMatchObject({ failures: 3 });
  });

  test('is not brought back by a pause', async () => {
    const destination = await failedLongAgo(3);
    await setPause(destination, Date.now() + 5_000);
    expect(await acquire(destination)).toMatchObject({ cause: 'rate_limited' });
    expect(await isFailing(destination)).toBe(false);
    vi.setSystemTime(Date.now() + 5_000);
    expect(await acquire(destination)).toBe('closed');
  });
});

test('the app network is one destination, and is notified of as such', async () => {
  const name = destinationNameOf({ direction: 'app', account: 'acme' });
  expect(name).toBe(APP_NETWORK_DESTINATION);
  for (let count = 0; count < 3; count += 1) await recordFailure(name, 'closed');
  expect(lines()).toMatchObject([{ message: 'circuit opened', direction: 'app', destination: 'app' }]);
  await resetCircuit(name);
});

test('those who wait come at most a fifth of a minute late, and not all at once', () => {
  const times = Array.from({ length: 50 }, () => later(NOW));
  expect(Math.min(...times)).toBeGreaterThanOrEqual(NOW);
  expect(Math.max(...times)).toBeLessThanOrEqual(NOW + SPREAD);
  expect(new Set(times).size).toBeGreaterThan(1);
});
