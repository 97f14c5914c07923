/**
 * A table of its own, which no stack serves, and the environment of the functions in this process: what the domain does
 * can be looked at step by step, with nothing going on beside it.
 */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, inject, vi } from 'vitest';
import { createTable } from '../../../infra/local/aws/database/database.ts';
import { callTableOf } from '../../../infra/local/call-table.ts';

const ENVIRONMENT = {
  BASE_URL: 'https://api.example.com',
  BRIDGE_URL: 'https://bridge.example.com',
  JID_DOMAIN: 'users.example.com',
  MESSAGE_RETENTION: '90',
  REQUEST_RETENTION: '30',
  COUNTER_RETENTION: '400',
  ALLOW_LOOPBACK: 'true',
};

/** Takes the table and the environment for a test file. `name` tells its table from others'. */
export const useOwnTable = (name: string): void => {
  const { assembly, dynamodb_endpoint: dynamodbEndpoint, table: served } = inject('stack');
  const table = `${served}-${name}`;

  callTableOf({ dynamodbEndpoint, table });
  for (const [setting, value] of Object.entries(ENVIRONMENT)) vi.stubEnv(setting, value);
  beforeAll(async () => createTable(dynamodbEndpoint, await tableIn(assembly), table));
  afterAll(() => void vi.unstubAllEnvs());
};

/** The table as the stack defines it, without its stream: nobody reads it, and it would cost the database its pace. */
const tableIn = async (assembly: string) => {
  const { Resources } = JSON.parse(await readFile(join(assembly, 'BusinessApi.template.json'), 'utf8'));
  const resources = Object.entries<{ Type: string; Properties: Record<string, unknown> }>(Resources);
  const [found] = resources.filter(([, { Type }]) => Type === 'AWS::DynamoDB::GlobalTable');
  if (found === undefined) throw new Error('The stack has no table.');
  const { StreamSpecification: _stream, ...properties } = found[1].Properties;
  return properties;
};

/** Answers each reading of a secret with `value()`, as Secrets Manager does. */
export const useSecret = (value: () => string): void => {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/x-amz-json-1.1' });
    response.end(JSON.stringify({ SecretString: value() }));
  });

  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    vi.stubEnv('APP_NETWORK_SECRET', 'app-network');
    vi.stubEnv(
      'AWS_ENDPOINT_URL_SECRETS_MANAGER',
      `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    );
  });

  afterAll(() => void server.close());
};
