/** A server in the place of the app network, for tests that deliver by themselves, on a table of their own. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { useSecret } from './own-table.ts';
import { Receiver } from './receiver.ts';

/** Starts it for the tests of a file; to each of them it has had no call, and takes all. Answers how to get at it. */
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
