/** A server in place of the app network, for tests that call delivery directly on a separate table. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { DestinationServer } from './destination-server.ts';
import { useSecret } from './own-table.ts';

/** Starts the server for a test file. Before each test, it has no calls and accepts all. Returns its getter. */
export const useAppNetworkServer = (): (() => DestinationServer) => {
  let destination: DestinationServer;

  useSecret(() => JSON.stringify({ url: destination.url, secret: `whsec_${randomBytes(32).toString('base64')}` }));

  beforeAll(async () => {
    destination = await DestinationServer.start();
  });

  afterAll(() => destination.close());

  beforeEach(() => {
    destination.calls.length = 0;
    destination.answers = [204];
  });

  return () => destination;
};
