/**
 * Where functions find queues and the secret: SQS and Secrets Manager over HTTP, as far as they are used. Every call is
 * held against the role of the function that makes it.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import * as v from 'valibot';
import type { Touch } from '../iam/policies.ts';
import { callerOf, OPERATOR, type Roles } from '../iam/roles.ts';
import { closeServer, listenOnLoopback } from '../loopback.ts';
import type { SecretDefinition } from '../template/definitions.ts';
import { QueueError } from './queue.ts';
import { isOurs, readQueueCall } from './queue-api.ts';
import type { Queues } from './queues.ts';

export interface Secret extends SecretDefinition {
  value: string;
}

interface Answer {
  status: number;
  /** What older clients call the error. */
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

  /** Takes a free port. Answers the address. */
  listen(): Promise<string> {
    return listenOnLoopback(this.#server, 0);
  }

  /** Tells these secrets from now on. */
  tell(secrets: Secret[]): void {
    this.#secrets = secrets;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await closeServer(this.#server);
  }

  async #handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    try {
      const body = await buffer(incoming);
      const { status, queryError, body: answer } = await this.#answer(incoming, JSON.parse(body.toString()));
      outgoing.writeHead(status, {
        'content-type': 'application/x-amz-json-1.0',
        ...(queryError !== undefined && { 'x-amzn-query-error': queryError }),
      });
      outgoing.end(JSON.stringify(answer));
    } catch {
      outgoing.destroy();
    }
  }

  async #answer({ headers }: IncomingMessage, input: unknown): Promise<Answer> {
    const [service, action = ''] = String(headers['x-amz-target']).split('.');
    const caller = callerOf(headers);
    if (service === 'AmazonSQS') return this.#answerQueueCall(caller, action, input);
    if (service === 'secretsmanager' && action === 'GetSecretValue') return this.#tellSecret(caller, input);
    return refusal('com.amazon.coral.service#UnknownOperationException', `The emulator does not serve ${action}.`);
  }

  async #answerQueueCall(caller: string, action: string, input: unknown): Promise<Answer> {
    try {
      const { touch, answer } = readQueueCall(this.#queues, action, input);
      return this.#forbid(caller, touch) ?? { status: 200, body: await answer(this.#closing.signal) };
    } catch (error) {
      if (!(error instanceof QueueError)) throw error;
      const { code, message } = error;
      const [status, fault] = isOurs(error) ? [503, 'Receiver'] : [400, 'Sender'];
      return { status, queryError: `${code};${fault}`, body: { __type: `com.amazonaws.sqs#${code}`, message } };
    }
  }

  #tellSecret(caller: string, input: unknown): Answer {
    const wanted = v.is(v.object({ SecretId: v.string() }), input) ? input.SecretId : '';
    const secret = this.#secrets.find(({ arn }) => arn === wanted);
    const forbidden = this.#forbid(caller, {
      action: 'secretsmanager:GetSecretValue',
      resource: secret?.arn ?? 'a secret that is not there',
    });
    if (forbidden) return forbidden;
    if (secret === undefined) return refusal('ResourceNotFoundException', "Secrets Manager can't find the secret.");
    return {
      status: 200,
      body: { ARN: secret.arn, Name: secret.id, SecretString: secret.value, VersionStages: ['AWSCURRENT'] },
    };
  }

  /** What a caller hears who may not do this; nothing, if it may. */
  #forbid(caller: string, touch: Touch): Answer | undefined {
    const message = caller === OPERATOR ? undefined : this.#roles.refusal(caller, [touch]);
    return message === undefined ? undefined : refusal('com.amazon.coral.service#AccessDeniedException', message);
  }
}

const refusal = (type: string, message: string): Answer => ({ status: 400, body: { __type: type, message } });
