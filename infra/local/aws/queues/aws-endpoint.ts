/**
 * The endpoint of queues and secrets: the used parts of SQS and Secrets Manager over HTTP. Every call is checked
 * against the role of the calling function.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import * as v from 'valibot';
import type { TableCall } from '../iam/policies.ts';
import { callerOf, OPERATOR, type Roles } from '../iam/roles.ts';
import { bodyOf, closeServer, listenOnLoopback } from '../loopback.ts';
import type { SecretDefinition } from '../template/definitions.ts';
import { QueueError } from './queue.ts';
import { isServiceError, readQueueCall } from './queue-api.ts';
import type { Queues } from './queues.ts';

export interface Secret extends SecretDefinition {
  value: string;
}

interface AwsResponse {
  status: number;
  /** The error's code for older clients. */
  queryError?: string;
  body: unknown;
}

export class AwsEndpoint {
  readonly #queues: Queues;
  readonly #roles: Roles;
  readonly #server: Server;
  readonly #closing = new AbortController();
  #secrets: Secret[] = [];

  constructor(queues: Queues, roles: Roles) {
    this.#queues = queues;
    this.#roles = roles;
    this.#server = createServer((incoming, outgoing) => void this.#handle(incoming, outgoing));
  }

  /** Listens on a free port. Returns the URL. */
  listen(): Promise<string> {
    return listenOnLoopback(this.#server, 0);
  }

  setSecrets(secrets: Secret[]): void {
    this.#secrets = secrets;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await closeServer(this.#server);
  }

  async #handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    try {
      const body = await bodyOf(incoming);
      const { status, queryError, body: output } = await this.#respond(incoming, JSON.parse(body.toString()));
      outgoing.writeHead(status, {
        'content-type': 'application/x-amz-json-1.0',
        ...(queryError !== undefined && { 'x-amzn-query-error': queryError }),
      });
      outgoing.end(JSON.stringify(output));
    } catch {
      outgoing.destroy();
    }
  }

  async #respond({ headers }: IncomingMessage, input: unknown): Promise<AwsResponse> {
    const [service, action = ''] = String(headers['x-amz-target']).split('.');
    const caller = callerOf(headers);
    if (service === 'AmazonSQS') return this.#handleQueueCall(caller, action, input);
    if (service === 'secretsmanager' && action === 'GetSecretValue') return this.#secretValue(caller, input);
    return errorResponse(
      'com.amazon.coral.service#UnknownOperationException',
      `The emulator does not serve ${action}.`,
    );
  }

  async #handleQueueCall(caller: string, action: string, input: unknown): Promise<AwsResponse> {
    try {
      const { touch, execute } = readQueueCall(this.#queues, action, input);
      return this.#forbid(caller, touch) ?? { status: 200, body: await execute(this.#closing.signal) };
    } catch (error) {
      if (!(error instanceof QueueError)) throw error;
      const { code, message } = error;
      const [status, fault] = isServiceError(error) ? [503, 'Receiver'] : [400, 'Sender'];
      return { status, queryError: `${code};${fault}`, body: { __type: `com.amazonaws.sqs#${code}`, message } };
    }
  }

  #secretValue(caller: string, input: unknown): AwsResponse {
    const wanted = v.is(v.object({ SecretId: v.string() }), input) ? input.SecretId : '';
    const secret = this.#secrets.find(({ arn }) => arn === wanted);
    const forbidden = this.#forbid(caller, {
      action: 'secretsmanager:GetSecretValue',
      resource: secret?.arn ?? 'a secret that is not there',
    });
    if (forbidden) return forbidden;
    if (secret === undefined)
      return errorResponse('ResourceNotFoundException', "Secrets Manager can't find the secret.");
    return {
      status: 200,
      body: { ARN: secret.arn, Name: secret.id, SecretString: secret.value, VersionStages: ['AWSCURRENT'] },
    };
  }

  /** The error for a denied call; undefined if the call is allowed. */
  #forbid(caller: string, touch: TableCall): AwsResponse | undefined {
    const denial = caller === OPERATOR ? undefined : this.#roles.denialOf(caller, [touch]);
    return denial && errorResponse(`com.amazon.coral.service#${denial.code}`, denial.message);
  }
}

const errorResponse = (type: string, message: string): AwsResponse => ({
  status: 400,
  body: { __type: type, message },
});
