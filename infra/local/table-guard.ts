/**
 * Stands between the functions and the database and holds every call against the policies of the function that makes it:
 * what IAM would refuse in AWS is refused here. The access key of a call names its function.
 */
import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { type Right, rightsFor, rightsOf, touchesOf } from './policies.ts';
import type { Template } from './template.ts';

export class TableGuard {
  readonly #endpoint: string;
  readonly #onLine: (source: string, line: string) => void;
  readonly #server: Server;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #used = new Set<string>();
  #template: Pick<Template, 'table' | 'functions'> | undefined;

  constructor(endpoint: string, onLine: (source: string, line: string) => void) {
    this.#endpoint = endpoint;
    this.#onLine = onLine;
    this.#server = createServer((incoming, outgoing) => void this.#handle(incoming, outgoing));
  }

  /** Takes a free port. Answers the address that functions find the table at. */
  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Judges by these policies from now on. */
  judgeBy(template: Pick<Template, 'table' | 'functions'>): void {
    this.#template = template;
  }

  /** Rights that no call has needed so far, by function. */
  unusedRights(): Record<string, Right[]> {
    const unused = (this.#template?.functions ?? []).map(({ id, policy }): [string, Right[]] => [
      id,
      rightsOf(policy).filter((right) => !this.#used.has(`${id} ${right}`)),
    ]);
    return Object.fromEntries(unused.filter(([, rights]) => rights.length > 0));
  }

  async close(): Promise<void> {
    this.#agent.destroy();
    if (!this.#server.listening) return;
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  async #handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    try {
      const body = await buffer(incoming);
      const refusal = this.#judge(incoming, body);
      if (refusal === undefined) this.#forward(incoming, body, outgoing);
      else refuse(outgoing, refusal);
    } catch {
      outgoing.destroy();
    }
  }

  /** Why a call is refused; nothing, if it is allowed. */
  #judge({ headers }: IncomingMessage, body: Buffer): string | undefined {
    const caller = /Credential=(\w+)\//.exec(headers.authorization ?? '')?.[1] ?? '';
    const action = String(headers['x-amz-target']).replace(/^.*\./, '');
    const policy = this.#template?.functions.find(({ id }) => id === caller)?.policy ?? [];
    const touches = touchesOf(action, JSON.parse(body.toString()));
    const rights = touches.map((touch) => rightsFor(policy, this.#template?.table.id ?? '', touch));
    for (const right of rights.flat()) this.#used.add(`${caller} ${right}`);
    const refused = touches.find((_, place) => rights[place]?.length === 0);
    if (refused === undefined && touches.length > 0) return undefined;

    const { index, partition } = refused ?? {};
    const place = [index, partition?.replace(/#.*/, '#…')].filter(Boolean).join(' ');
    const message = `${caller} is not authorized to perform dynamodb:${refused?.action ?? action} on ${place || 'the table'}`;
    this.#onLine(caller, JSON.stringify({ level: 'error', message: 'refused by policy', detail: message }));
    return message;
  }

  #forward({ method, headers }: IncomingMessage, body: Buffer, outgoing: ServerResponse): void {
    const call = request(this.#endpoint, { method, headers, agent: this.#agent }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    call.once('error', () => outgoing.destroy());
    call.end(body);
  }
}

const refuse = (outgoing: ServerResponse, message: string): void => {
  outgoing.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' });
  outgoing.end(JSON.stringify({ __type: 'com.amazon.coral.service#AccessDeniedException', Message: message }));
};
