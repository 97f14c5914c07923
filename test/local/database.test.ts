/** The error of the local stack for an unsuitable database. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createTable } from '../../infra/local/aws/database/database.ts';

test('a database with separate tables per access key is rejected with an instruction to use -sharedDb', async () => {
  const server = createServer((request, response) => {
    const action = String(request.headers['x-amz-target']).replace(/^.*\./, '');
    const found = action !== 'DescribeTable';
    response.writeHead(found ? 200 : 400, { 'content-type': 'application/x-amz-json-1.0' });
    response.end(found ? '{}' : '{"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException"}');
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const properties = { TimeToLiveSpecification: { AttributeName: 'expires_at', Enabled: true } };
  await expect(createTable(endpoint, properties, 'table')).rejects.toThrow(
    `The database at ${endpoint} keeps a database for each access key: start DynamoDB Local with -sharedDb.`,
  );
});
