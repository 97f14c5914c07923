/** What a listener reports of a program's response. */
import { createServer } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { closeServer, listenOnLoopback } from '../../../infra/local/aws/loopback.ts';
import { forward } from '../../../infra/operator/listen/forward.ts';

test('the kept beginning of a response contains no half of a character', async () => {
  const server = createServer((_, response) => void response.end(`${'a'.repeat(1_023)}😀 and more`));
  onTestFinished(() => closeServer(server));
  const url = await listenOnLoopback(server, 0);
  const { outcome } = await forward(new URL(url), { headers: {}, body: '{}' });
  expect(outcome).toMatchObject({ status_code: 200, response: `${'a'.repeat(1_023)}😀` });
});
