/** A clock that only the test advances, for tests that call delivery directly on a separate table. */
import { afterEach, beforeEach, vi } from 'vitest';
import { resetCircuit } from '../../../infra/operator/queries/outbox-inspection.ts';
import { APP_NETWORK_DESTINATION } from '../../../shared/destinations/destination.ts';

/**
 * Before each test, sets the clock to `now`, and the length of a minute of the service, both in milliseconds. After each
 * test, the circuit of the app network is closed: it would be open at times of the next test.
 */
export const useStoppedClock = (now: number, minute: number): void => {
  beforeEach(() => {
    vi.stubEnv('MINUTE', String(minute));
    vi.useFakeTimers({ now, toFake: ['Date'] });
  });

  afterEach(async () => {
    vi.useRealTimers();
    await resetCircuit(APP_NETWORK_DESTINATION);
  });
};
