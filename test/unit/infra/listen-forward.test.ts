/** What a listener reports of a program's response. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { forward } from '../../../infra/operator/listen/forward.ts';

test('the kept beginning of a response contains no half of a character', async () => {
  const server = createServer((_, response) => void response.end(`${'a'.repeat(1_023)}😀 and more`));
  onTestFinished(() => void server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  const url = new URL(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`);
  const { outcome } = await forward(url, { headers: {}, body: '{}' });
  expect(outcome).toMatchObject({ status_code: 200, response: `${'a'.repeat(1_023)}😀` });
});
