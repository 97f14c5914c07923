/**
 * A simulated app network: takes what the service sends to phones, answers as it is told, and speaks for the phones'
 * users. It reports nothing by itself. A GET of its address tells how to use it.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import * as v from 'valibot';
import { between, newId } from '../../../shared/clock.ts';
import { matchRoute } from '../routes.ts';
import { StartError } from '../start-error.ts';
import { Behaviour } from './behaviour.ts';
import { helpFor } from './help.ts';
import { check, fields, HttpRefusal, json, parseJson, type Reply, readBody, replyTo, send } from './http.ts';
import { eventIn, Inbox } from './inbox.ts';

interface AppNetworkOptions {
  /** A port of the loopback interface; 0 takes any free one. */
  port: number;
  /** What the service signs with: `whsec_` and base64. A new one, where none is given. */
  secret?: string;
  /** Rolls a number from 0 to below 1 for answers that only a share of calls gets. */
  random?: () => number;
}

/** Where users' events go. */
interface Service {
  bridgeUrl: string;
  appToken: string;
}

interface Request {
  parameters: Record<string, string>;
  query: URLSearchParams;
  body: Buffer;
}

/** Longer than the service may take, in milliseconds. */
const PATIENCE = 35_000;

const eventId = { event_id: v.exactOptional(v.string('must be a string')) };
const text = v.string('must be a string');

const writing = fields({ to: text, text, ...eventId });
const state = fields({
  state: v.picklist(
    ['delivered_to_user', 'read', 'delivery_failed'],
    'must be delivered_to_user, read or delivery_failed',
  ),
  reason: v.exactOptional(text),
  ...eventId,
});
const user = fields({
  panelist: v.exactOptional(v.boolean('must be true or false')),
  properties: v.exactOptional(v.record(v.string(), v.unknown(), 'must be an object')),
  ...eventId,
});
const removal = fields(eventId);

export class AppNetwork {
  /** Its address, for people. */
  readonly phoneUrl: string;
  /** What the service calls. */
  readonly appUrl: string;
  /** What the service signs with. */
  readonly secret: string;
  readonly #server: Server;
  readonly #webhook: Webhook;
  readonly #behaviour: Behaviour;
  readonly #inbox = new Inbox();
  readonly #closing = new AbortController();
  #service: Service | undefined;

  private constructor(server: Server, secret: string, random: () => number) {
    this.phoneUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    this.appUrl = `${this.phoneUrl}/app`;
    this.secret = secret;
    this.#server = server;
    this.#webhook = new Webhook(secret);
    this.#behaviour = new Behaviour(random);
    server.on('request', (request, response) => {
      void this.#answer(request, response).catch((error: unknown) => send(response, replyTo(error)));
    });
  }

  /** @throws StartError — the port cannot be had */
  static async start({
    port,
    secret = `whsec_${randomBytes(32).toString('base64')}`,
    random = () => between(0, 1),
  }: AppNetworkOptions): Promise<AppNetwork> {
    const server = createServer();
    try {
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
    } catch (error) {
      if (!(error instanceof Error) || !('code' in error)) throw error;
      const trouble = error.code === 'EADDRINUSE' ? 'is taken' : `cannot be used (${error.code})`;
      throw new StartError(`Port ${port} ${trouble}: set PORT to another one.`);
    }
    return new AppNetwork(server, secret, random);
  }

  /** What the stack's secret has to hold, so that the service calls this network. */
  get stackSecret(): string {
    return JSON.stringify({ url: this.appUrl, secret: this.secret });
  }

  /** Sends users' events to this service from now on. */
  connect(service: Service): void {
    this.#service = service;
  }

  /** Ends every call under way, those that hang too. */
  async close(): Promise<void> {
    if (!this.#server.listening) return;
    this.#server.close();
    this.#server.closeAllConnections();
    this.#closing.abort();
    await once(this.#server, 'close');
  }

  readonly #routes: Record<string, (request: Request) => Reply | Promise<Reply>> = {
    'GET /': () => ({ status: 200, type: 'text/plain; charset=utf-8', body: helpFor(this.phoneUrl) }),
    'GET /phones': () => json(200, this.#inbox.phones),
    'GET /phones/{phone}/messages': ({ parameters: { phone = '' }, query }) =>
      json(200, query.get('all') === 'true' ? this.#inbox.sentTo(phone) : this.#inbox.shownOn(phone)),
    'GET /calls': () => json(200, this.#inbox.calls),
    'DELETE /calls': () => {
      this.#inbox.forget();
      return { status: 204 };
    },
    'GET /behaviour': () => json(200, this.#behaviour.rules),
    'PUT /behaviour': ({ body }) => {
      this.#behaviour.follow(parseJson(body));
      return json(200, this.#behaviour.rules);
    },
    'DELETE /behaviour': () => {
      this.#behaviour.forget();
      return { status: 204 };
    },
    'POST /phones/{phone}/messages': ({ parameters: { phone }, body }) => {
      const { to, text, event_id } = check(writing, parseJson(body));
      return this.#speak(event_id, 'message.received', { from: phone, to, type: 'text', text: { body: text } });
    },
    'POST /messages/{id}/states': ({ parameters: { id }, body }) => {
      const { event_id, ...reported } = check(state, parseJson(body));
      return this.#speak(event_id, 'message.state', { id, ...reported });
    },
    'POST /phones/{phone}/user': ({ parameters: { phone }, body }) => {
      const { event_id, ...known } = check(user, parseJson(body));
      return this.#speak(event_id, 'user.updated', { phone_number: phone, ...known });
    },
    'DELETE /phones/{phone}/user': ({ parameters: { phone }, body }) => {
      const { event_id } = body.length === 0 ? {} : check(removal, parseJson(body));
      return this.#speak(event_id, 'user.removed', { phone_number: phone });
    },
    'POST /events': ({ body }) => {
      parseJson(body);
      return this.#report(body.toString());
    },
  };

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    const { method = '', url = '' } = request;
    const [path = '', query] = url.split('?', 2);
    if (method === 'POST' && path === '/app') return this.#take(request, body, response);
    const routes = Object.keys(this.#routes).map((key) => ({ key, function: key, authorizer: undefined }));
    const match = matchRoute(routes, method, path);
    const serve = match && this.#routes[match.route.key];
    if (!serve) throw new HttpRefusal(404, `There is no ${method} ${path}: GET / tells what there is.`);
    send(response, await serve({ parameters: match.parameters, query: new URLSearchParams(query), body }));
  }

  /** A call of the service. */
  async #take({ headers }: IncomingMessage, body: Buffer, response: ServerResponse): Promise<void> {
    const signed = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [
      name,
      String(headers[name] ?? ''),
    ]);
    try {
      this.#webhook.verify(body, Object.fromEntries(signed), { jsonParse: false });
    } catch (error) {
      throw new HttpRefusal(401, `The signature is not good: ${error instanceof Error ? error.message : error}.`);
    }
    const webhookId = String(headers['webhook-id']);
    const event = eventIn(body);
    const call = this.#inbox.enter(webhookId, event);
    if (event === undefined) {
      call.status = 400;
      throw new HttpRefusal(400, 'The body is no event that the app network knows.');
    }
    const show = this.#inbox.arrive(webhookId, event);
    const { status = 204, delay_ms = 0, drop, hang, after, retry_after } = this.#behaviour.ruleFor(event.data.to);
    if (delay_ms > 0) await pause(delay_ms, undefined, { signal: this.#closing.signal });

    if (drop || hang) {
      if (after) show();
      call.status = drop ? 'dropped' : 'timeout';
      if (drop) response.destroy();
      return;
    }
    if (status < 300) show();
    call.status = response.destroyed ? 'timeout' : status;
    send(response, {
      ...(status === 204 ? { status } : json(status, { message: `Told to answer ${status}.` })),
      ...(retry_after !== undefined && { headers: { 'retry-after': String(retry_after) } }),
    });
  }

  /** Has the app's side say something. */
  async #speak(id: string | undefined, type: string, data: Record<string, unknown>): Promise<Reply> {
    const event = { id: id ?? newId(), type, data };
    const reply = await this.#report(JSON.stringify(event));
    return reply.status < 300 ? json(200, { event, status: reply.status }) : reply;
  }

  /** Sends events to the service. Answers what it answers. */
  async #report(body: string): Promise<Reply> {
    if (this.#service === undefined) throw new HttpRefusal(502, 'The service is not there yet: the stack is starting.');
    const { bridgeUrl, appToken } = this.#service;
    try {
      const answer = await fetch(`${bridgeUrl}/v1/app/events`, {
        method: 'POST',
        headers: { authorization: `Bearer ${appToken}`, 'content-type': 'application/json' },
        body,
        redirect: 'manual',
        signal: AbortSignal.any([this.#closing.signal, AbortSignal.timeout(PATIENCE)]),
      });
      return { status: answer.status, type: answer.headers.get('content-type'), body: await answer.text() };
    } catch {
      throw new HttpRefusal(502, `The service does not answer at ${bridgeUrl}.`);
    }
  }
}
