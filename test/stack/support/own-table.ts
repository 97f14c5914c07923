/**
 * A separate table that no stack serves, and the environment of the functions in this process. Tests call the domain
 * step by step without concurrent workers.
 */
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, inject, vi } from 'vitest';
import { createTable } from '../../../infra/local/aws/database/database.ts';
import { listenOnLoopback } from '../../../infra/local/aws/loopback.ts';
import { callTableOf } from '../../../infra/operator/local-stack/call-table.ts';

const ENVIRONMENT = {
  BASE_URL: 'https://api.example.com',
  BRIDGE_URL: 'https://bridge.example.com',
  JID_DOMAIN: 'users.example.com',
  MESSAGE_RETENTION: '90',
  REQUEST_RETENTION: '30',
  COUNTER_RETENTION: '400',
  APPROVE_NAMES: 'true',
  WAITS_PER_ACCOUNT: '50',
  WAITS_IN_ALL: '500',
  CONTACT_ALLOWANCE: '100000',
  AUDIENCE_ALLOWANCE: '100',
  ACCOUNT_RATE: '100',
  ACCOUNT_BURST: '200',
  CAMPAIGN_RATE: '900',
  DELIVERY_QUEUE_BOUND: '1000',
  ALLOW_LOOPBACK: 'true',
};

/** Sets up the table and the environment for a test file. `name` is the suffix of the table's name. */
export const useOwnTable = (name: string): void => {
  const { assembly, dynamodb_endpoint: dynamodbEndpoint, table: served } = inject('stack');
  const table = `${served}-${name}`;

  callTableOf({ dynamodbEndpoint, table });
  for (const [setting, value] of Object.entries(ENVIRONMENT)) vi.stubEnv(setting, value);
  // Only the functions that serve the portal and the documentation read files of their folder.
  vi.stubEnv('LAMBDA_TASK_ROOT', inject('run').functionFolder);
  beforeAll(async () => createTable(dynamodbEndpoint, await tableIn(assembly), table));
  afterAll(() => void vi.unstubAllEnvs());
};

/** The stack's definition of the table without its stream, because an unused stream slows the database. */
export const tableIn = async (assembly: string) => {
  const { Resources } = JSON.parse(await readFile(join(assembly, 'BusinessApi.template.json'), 'utf8'));
  const resources = Object.entries<{ Type: string; Properties: Record<string, unknown> }>(Resources);
  const [found] = resources.filter(([, { Type }]) => Type === 'AWS::DynamoDB::GlobalTable');
  if (found === undefined) throw new Error('The stack has no table.');
  const { StreamSpecification: _stream, ...properties } = found[1].Properties;
  return properties;
};

/** Starts a server in place of Secrets Manager. Each read of a secret returns `value()`. */
export const useSecret = (value: () => string): void => {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/x-amz-json-1.1' });
    response.end(JSON.stringify({ SecretString: value() }));
  });

  beforeAll(async () => {
    vi.stubEnv('APP_NETWORK_SECRET', 'app-network');
    vi.stubEnv('AWS_ENDPOINT_URL_SECRETS_MANAGER', await listenOnLoopback(server, 0));
  });

  afterAll(() => void server.close());
};

/** Lets this process use the bucket of the served stack. */
export const useServedBucket = (): void => {
  const { assembly, s3_endpoint } = inject('stack');
  let bucket: string;
  beforeAll(async () => {
    const { Resources } = JSON.parse(await readFile(join(assembly, 'BusinessApi.template.json'), 'utf8'));
    bucket = String(Object.keys(Resources).filter((id) => Resources[id].Type === 'AWS::S3::Bucket')).toLowerCase();
  });
  beforeEach(() => {
    vi.stubEnv('MEDIA_BUCKET', bucket);
    vi.stubEnv('AWS_ENDPOINT_URL_S3', s3_endpoint);
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'operator');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'local');
  });
};
