/** Which databases the local stack uses, and its error for an unsuitable one. */
import { createServer } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { createTable, isDatabase, openDatabase } from '../../infra/local/aws/database/database.ts';
import { closeServer, freePort, listenOnLoopback } from '../../infra/local/aws/loopback.ts';

test('a database with separate tables per access key is rejected with an instruction to use -sharedDb', async () => {
  const server = createServer((request, response) => {
    const action = String(request.headers['x-amz-target']).replace(/^.*\./, '');
    const found = action !== 'DescribeTable';
    response.writeHead(found ? 200 : 400, { 'content-type': 'application/x-amz-json-1.0' });
    response.end(found ? '{}' : '{"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException"}');
  });
  onTestFinished(() => closeServer(server));
  const endpoint = await listenOnLoopback(server, 0);
  const properties = { TimeToLiveSpecification: { AttributeName: 'expires_at', Enabled: true } };
  await expect(createTable(endpoint, properties, 'table')).rejects.toThrow(
    `The database at ${endpoint} keeps a database for each access key: start DynamoDB Local with -sharedDb.`,
  );
});

test('a running database is recognised by its API, not by its port', async () => {
  const database = await openDatabase(undefined);
  onTestFinished(() => database.close());
  const website = createServer((_, response) => void response.end('<h1>Welcome</h1>'));
  onTestFinished(() => closeServer(website));
  const url = await listenOnLoopback(website, 0);
  expect(await isDatabase(database.endpoint)).toBe(true);
  expect(await isDatabase(url)).toBe(false);
  expect(await isDatabase(`http://127.0.0.1:${await freePort()}`)).toBe(false);
});
