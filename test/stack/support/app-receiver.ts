/** A server in place of the app network, for tests that call delivery directly on a separate table. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { useSecret } from './own-table.ts';
import { Receiver } from './receiver.ts';

/** Starts the server for a test file. Before each test, it has no calls and accepts all. Returns its getter. */
export const useAppReceiver = (): (() => Receiver) => {
  let receiver: Receiver;

  useSecret(() => JSON.stringify({ url: receiver.url, secret: `whsec_${randomBytes(32).toString('base64')}` }));

  beforeAll(async () => {
    receiver = await Receiver.start();
  });

  afterAll(() => receiver.close());

  beforeEach(() => {
    receiver.calls.length = 0;
    receiver.answers = [204];
  });

  return () => receiver;
};
