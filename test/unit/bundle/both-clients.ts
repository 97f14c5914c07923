/** The SDK's clients and those that replace them in bundles, before one server that records requests. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import * as dynamodb from '@aws-sdk/client-dynamodb';
import * as secrets from '@aws-sdk/client-secrets-manager';
import * as queues from '@aws-sdk/client-sqs';
import * as documents from '@aws-sdk/lib-dynamodb';
import { afterAll, afterEach, beforeAll, beforeEach, vi } from 'vitest';
import * as ownDynamodb from '../../../infra/bundle/sdk/client-dynamodb.ts';
import * as ownSecrets from '../../../infra/bundle/sdk/client-secrets-manager.ts';
import * as ownQueues from '../../../infra/bundle/sdk/client-sqs.ts';
import * as ownDocuments from '../../../infra/bundle/sdk/lib-dynamodb.ts';
import { bodyOf, closeServer, listenOnLoopback } from '../../../infra/local/aws/loopback.ts';

/** A client, as functions use it. */
export interface Client {
  send(command: object, options?: { abortSignal: AbortSignal }): Promise<Record<string, unknown>>;
}

/** The modules of one of the two. */
export interface Modules {
  name: string;
  clients: {
    DynamoDBClient: new (options: object) => object;
    SQSClient: new (options: object) => object;
    SecretsManagerClient: new (options: object) => object;
  };
  from: (client: object) => object;
  commands: Record<string, new (input: never) => object>;
  errors: Record<string, new (...given: never[]) => Error>;
}

const documentsFrom =
  (place: object) =>
  (client: object): object =>
    Object(place).from(client, { marshallOptions: { removeUndefinedValues: true } });

const modulesOf = (name: string, own: object[], errors: object, place: object): Modules => {
  const all = Object.assign({}, ...own) as Modules['clients'] & Modules['commands'];
  return { name, clients: all, from: documentsFrom(place), commands: all, errors: errors as Modules['errors'] };
};

export const sdk = modulesOf('sdk', [dynamodb, queues, secrets, documents], dynamodb, documents.DynamoDBDocumentClient);
export const own = modulesOf(
  'own',
  [ownDynamodb, ownQueues, ownSecrets, ownDocuments],
  ownDynamodb,
  ownDocuments.DynamoDBDocumentClient,
);

export interface Received {
  method: string | undefined;
  url: string | undefined;
  headers: IncomingHttpHeaders;
  body: string;
}

/** How the server responds to the next attempt; the last one is repeated. */
export type Answer = (response: ServerResponse) => void;

export const json =
  (body: object, status = 200, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(status, { 'x-amzn-requestid': 'request-1', ...headers }).end(JSON.stringify(body));

/** Longer than any pause of a busy machine; for a server that never responds, `IMPATIENT`. */
const TIMEOUTS = { connectionTimeout: 30_000, requestTimeout: 30_000, throwOnRequestTimeout: true };
export const IMPATIENT = { ...TIMEOUTS, requestTimeout: 100 };

/** Serves the tests of a file. */
export const useServer = () => {
  const received: Received[] = [];
  let answers: Answer[] = [];
  const server = createServer(async (request, response) => {
    const { method, url, headers } = request;
    received.push({ method, url, headers, body: (await bodyOf(request)).toString() });
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    answer?.(response);
  });
  let endpoint = '';

  beforeAll(async () => {
    endpoint = await listenOnLoopback(server, 0);
  });
  afterAll(() => closeServer(server));
  beforeEach(() => {
    const settings = { AWS_REGION: 'eu-west-1', AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'key' };
    for (const [name, value] of Object.entries({ ...settings, AWS_SESSION_TOKEN: 'token' })) vi.stubEnv(name, value);
    vi.stubEnv('AWS_ENDPOINT_URL', endpoint);
    for (const service of ['DYNAMODB', 'SQS', 'SECRETS_MANAGER']) vi.stubEnv(`AWS_ENDPOINT_URL_${service}`, '');
    // The SDK multiplies the pause before a retry by a random number: 0 removes it.
    vi.spyOn(Math, 'random').mockReturnValue(0);
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
    vi.useRealTimers();
  });

  return {
    received,
    endpoint: () => endpoint,
    /** Clients of these modules, with the options of functions. */
    clientsOf: ({ clients, from }: Modules, timeouts = TIMEOUTS) => {
      const options = { requestHandler: timeouts, maxAttempts: 3 };
      return {
        table: from(new clients.DynamoDBClient(options)) as Client,
        queue: new clients.SQSClient(options) as Client,
        secrets: new clients.SecretsManagerClient(options) as Client,
      };
    },
    /** Sets the responses, and forgets what was received. */
    answer: (...given: Answer[]) => {
      answers = [...given];
      received.length = 0;
    },
  };
};
