/**
 * Circuit breakers, step by step: when they open and close, which callers may send, and which log lines they write.
 *
 * @module-tag long
 */
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { findOpenCircuit, resetCircuit } from '../../../../infra/operator/queries/outbox-inspection.ts';
import {
  acquire,
  type CircuitState,
  findFailure,
  recordFailure,
  recordSuccess,
  setPause,
  withJitter,
} from '../../../../shared/delivery/circuit-breaker.ts';
import { destinationNameOf } from '../../../../shared/destinations/destination.ts';
import { documents } from '../../../../shared/table/client.ts';
import { captureLog } from '../../../support/captured-log.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { newAccountId } from '../../support/world.ts';

const MINUTE = 60_000;
const NOW = Date.UTC(2030, 0, 1);
/** Milliseconds by which a pending conversation continues later than the circuit allows, at most. */
const SPREAD = 0.2 * MINUTE;

useOwnTable('circuit');

const written = captureLog();

beforeEach(() => void vi.useFakeTimers({ now: NOW, toFake: ['Date'] }));

afterEach(() => void vi.useRealTimers());

const newDestination = (): string => destinationNameOf({ direction: 'platform', account: newAccountId() });

/** A new destination after so many failures in a row. */
const failed = async (times: number): Promise<string> => {
  const destination = newDestination();
  for (let count = 0; count < times; count += 1) await recordFailure(destination, await acquire(destination));
  return destination;
};

const isFailing = async (destination: string): Promise<boolean> => (await findFailure(destination)) !== undefined;

const expectUntil = (circuit: CircuitState, until: number): void => {
  if (typeof circuit !== 'object') throw new Error(`The circuit is ${circuit}.`);
  expect(circuit.until).toBeGreaterThanOrEqual(until);
  expect(circuit.until).toBeLessThanOrEqual(until + SPREAD);
};

const lines = () => written.map((line) => JSON.parse(line));

describe('a destination', () => {
  test.each([
    [0, 'closed', false],
    [1, 'degraded', false],
    [2, 'degraded', false],
  ])('that failed %i times in a row receives calls, and its circuit is %s', async (times, circuit, failing) => {
    const destination = await failed(times);
    expect(await acquire(destination)).toBe(circuit);
    expect(await isFailing(destination)).toBe(failing);
    expect(await findOpenCircuit(destination)).toBeUndefined();
    expect(lines()).toEqual([]);
  });

  test('that failed three times has an open circuit for a minute, which is logged once', async () => {
    const destination = await failed(3);
    expectUntil(await acquire(destination), NOW + MINUTE);
    expect(await isFailing(destination)).toBe(true);
    expect(await findOpenCircuit(destination)).toEqual({
      destination,
      open_until: new Date(NOW + MINUTE).toISOString(),
      failures: 3,
    });
    // A failure of an attempt that began before does not extend the period.
    vi.setSystemTime(NOW + MINUTE / 2);
    await recordFailure(destination, 'closed');
    expect(await findOpenCircuit(destination)).toMatchObject({ open_until: new Date(NOW + MINUTE).toISOString() });
    expect(lines()).toMatchObject([
      { level: 'warn', message: 'circuit opened', direction: 'platform', destination, circuits_opened: 1 },
    ]);
  });

  test('is probed by one of three callers when the open period ends; the other two wait a minute', async () => {
    const destination = await failed(3);
    vi.setSystemTime(NOW + MINUTE);
    const circuits = await Promise.all([acquire(destination), acquire(destination), acquire(destination)]);
    expect(circuits.filter((circuit) => circuit === 'half_open')).toHaveLength(1);
    for (const circuit of circuits) if (circuit !== 'half_open') expectUntil(circuit, NOW + 2 * MINUTE);
  });

  test('is not probed by a caller that loses the election by a moment', async () => {
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

  test('has an open circuit for 2, then 10 minutes after each failed probe, without further log lines', async () => {
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

  test('receives calls again after a successful probe, which is logged', async () => {
    const destination = await failed(3);
    vi.setSystemTime(NOW + MINUTE);
    await recordSuccess(destination, await acquire(destination));
    expect(await acquire(destination)).toBe('closed');
    expect(await isFailing(destination)).toBe(false);
    expect(lines().slice(1)).toMatchObject([
      { level: 'info', message: 'circuit closed', direction: 'platform', destination, circuits_closed: 1 },
    ]);
  });

  test('that succeeds after two failures starts counting from zero, without a log line', async () => {
    const destination = await failed(2);
    await recordSuccess(destination, await acquire(destination));
    expect(await acquire(destination)).toBe('closed');
    await recordFailure(destination, 'closed');
    expect(await acquire(destination)).toBe('degraded');
    expect(lines()).toEqual([]);
  });

  test('whose circuit the caller read as closed is not updated by a success', async () => {
    const destination = await failed(1);
    await recordSuccess(destination, 'closed');
    expect(await acquire(destination)).toBe('degraded');
  });

  test('that asks for fewer requests is paused until its time, which is no failure', async () => {
    const destination = newDestination();
    await setPause(destination, NOW + 5_000);
    expect(await acquire(destination)).toEqual({ until: NOW + 5_000, cause: 'rate_limited' });
    expect(await isFailing(destination)).toBe(false);
    expect(await findOpenCircuit(destination)).toBeUndefined();
    expect(lines()).toEqual([]);
  });

  test('has a closed circuit for every caller after its pause', async () => {
    const destination = newDestination();
    await setPause(destination, NOW + 5_000);
    vi.setSystemTime(NOW + 5_000);
    for (let times = 0; times < 3; times += 1) expect(await acquire(destination)).toBe('closed');
  });

  test('is paused until the latest time that it asked for, even if a request in progress succeeds', async () => {
    const destination = await failed(1);
    await setPause(destination, NOW + 9_000);
    await setPause(destination, NOW + 5_000);
    await recordSuccess(destination, 'degraded');
    expect(await acquire(destination)).toEqual({ until: NOW + 9_000, cause: 'rate_limited' });
  });

  test('is probed by the elected caller even if the response to its election is lost', async () => {
    const destination = await failed(3);
    vi.setSystemTime(NOW + MINUTE);
    const send = documents.send.bind(documents);
    vi.spyOn(documents, 'send').mockImplementation(async (command) => {
      // The client repeats a call without a response.
      if (command instanceof UpdateCommand) await send(command);
      return send(command);
    });
    expect(await acquire(destination)).toBe('half_open');
    vi.mocked(documents.send).mockRestore();
  });

  test('has a closed circuit at once after a reset', async () => {
    const destination = await failed(3);
    await resetCircuit(destination);
    expect(await acquire(destination)).toBe('closed');
  });
});

/** An item that has expired stays in the table until TTL removes it, up to two days later. */
describe('an expired circuit that is still in the table', () => {
  const DAY = 24 * 60 * MINUTE;

  /** A new destination whose failures, so many, were more than a day ago. */
  const failedLongAgo = async (times: number): Promise<string> => {
    const destination = await failed(times);
    vi.setSystemTime(NOW + DAY + 1_000);
    return destination;
  };

  test('is closed for every caller', async () => {
    const destination = await failedLongAgo(4);
    expect(await acquire(destination)).toBe('closed');
    expect(await isFailing(destination)).toBe(false);
    expect(await findOpenCircuit(destination)).toBeUndefined();
  });

  test('does not count towards new failures', async () => {
    const destination = await failedLongAgo(2);
    for (let times = 1; times < 3; times += 1) {
      await recordFailure(destination, 'closed');
      expect(await acquire(destination)).toBe('degraded');
    }
    await recordFailure(destination, 'closed');
    expect(await findOpenCircuit(destination)).toMatchObject({ failures: 3 });
  });

  test('does not open again because of a pause', async () => {
    const destination = await failedLongAgo(3);
    await setPause(destination, Date.now() + 5_000);
    expect(await acquire(destination)).toMatchObject({ cause: 'rate_limited' });
    expect(await isFailing(destination)).toBe(false);
    vi.setSystemTime(Date.now() + 5_000);
    expect(await acquire(destination)).toBe('closed');
  });
});

test('pending conversations continue at different times, at most 12 s after the circuit allows', () => {
  const times = Array.from({ length: 50 }, () => withJitter(NOW));
  expect(Math.min(...times)).toBeGreaterThanOrEqual(NOW);
  expect(Math.max(...times)).toBeLessThanOrEqual(NOW + SPREAD);
  expect(new Set(times).size).toBeGreaterThan(1);
});
