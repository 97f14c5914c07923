/**
 * A simulated app network: it receives what the service sends to phones, responds by its fault rules, and acts for the
 * phones' users. By itself it reports only configured answers to data requests. A GET of its URL describes its use.
 */
import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import * as v from 'valibot';
import { between, now, sortableTime } from '../../../../shared/core/clock.ts';
import { newId } from '../../../../shared/core/ids.ts';
import { Bridge, type BridgeAnswer } from '../bridge.ts';
import { answerByRule } from '../calls.ts';
import type { Changes } from '../changes.ts';
import { addFaultRoutes, FaultRules } from '../fault-rules.ts';
import { appNetworkHelp } from '../help.ts';
import { type Answer, httpError, noContent, parseJson } from '../http.ts';
import { check, fields, oneOf, text, yes } from '../schemas.ts';
import { answerWith, type IncomingCall, newRoutes, type Routes, readCall, SimulatorServer } from '../server.ts';
import { Consent } from './consent.ts';
import { type AppEvent, eventIn, Inbox } from './inbox.ts';
import { type ReportedEvent, ReportedEvents } from './reported-events.ts';

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

const eventId = { event_id: v.exactOptional(text) };

const writing = fields({ to: text, text, ...eventId });
const state = fields({
  state: oneOf('delivered_to_user', 'read', 'delivery_failed'),
  reason: v.exactOptional(text),
  ...eventId,
});
const user = fields({
  panelist: v.exactOptional(yes),
  properties: v.exactOptional(v.record(v.string(), v.unknown(), 'must be an object')),
  ...eventId,
});
const removal = fields(eventId);
const answering = fields({
  answers: v.record(v.string(), oneOf('approved', 'denied'), 'must be an object'),
  ...eventId,
});

export class AppNetwork {
  /** Its address, for people. */
  readonly phoneUrl: string;
  /** What the service calls. */
  readonly appUrl: string;
  /** What the service signs with. */
  readonly secret: string;
  readonly #server: SimulatorServer;
  readonly #bridge: Bridge;
  readonly #webhook: Webhook;
  readonly #faultRules: FaultRules;
  /** What came from the service. */
  readonly inbox = new Inbox();
  /** What was reported to the service. */
  readonly reportedEvents = new ReportedEvents();
  readonly #consent = new Consent();
  #appToken = '';

  private constructor(server: SimulatorServer, secret: string, random: () => number) {
    this.phoneUrl = server.url;
    this.appUrl = `${server.url}/app`;
    this.secret = secret;
    this.#server = server;
    this.#bridge = new Bridge(server);
    this.#webhook = new Webhook(secret);
    this.#faultRules = new FaultRules(random);
    server.serve(this.#routes, this.help);
  }

  /** @throws StartError — the port cannot be had */
  static async start({
    port,
    secret = `whsec_${randomBytes(32).toString('base64')}`,
    random = () => between(0, 1),
  }: AppNetworkOptions): Promise<AppNetwork> {
    return new AppNetwork(await SimulatorServer.start(port), secret, random);
  }

  /** What the stack's secret has to hold, so that the service calls this network. */
  get stackSecret(): string {
    return JSON.stringify({ url: this.appUrl, secret: this.secret });
  }

  /** Sends users' events to this service from now on. */
  connect({ bridgeUrl, appToken }: Service): void {
    this.#bridge.connect(bridgeUrl);
    this.#appToken = appToken;
  }

  /** Serves these too, such as a page for people. */
  serve(routes: Routes): void {
    this.#server.add(routes);
  }

  /** What tells people how to use it. */
  get help(): string {
    return appNetworkHelp(this.phoneUrl);
  }

  get changes(): Changes {
    return this.#server.changes;
  }

  /** Ends every call under way, those that hang too. */
  close(): Promise<void> {
    return this.#server.close();
  }

  get #routes(): Routes {
    const routes = newRoutes();
    routes.post('/app', async (c) => answerWith(c, await this.#take(await readCall(c))));
    this.#addInbox(routes);
    this.#addEvents(routes);
    this.#addConsent(routes);
    addFaultRoutes(routes, '', () => this.#faultRules);
    return routes;
  }

  /** What came from the service. */
  #addInbox(routes: Routes): void {
    routes.get('/phones', (c) => c.json(this.inbox.phones));
    routes.get('/phones/:phone/messages', ({ req }) => {
      const phone = req.param('phone');
      return Response.json(req.query('all') === 'true' ? this.inbox.sentTo(phone) : this.inbox.shownOn(phone));
    });
    routes.get('/calls', () => Response.json(this.inbox.calls));
    routes.delete('/calls', () => {
      this.inbox.forget();
      this.reportedEvents.forget();
      return noContent();
    });
  }

  /** What people have the app report. */
  #addEvents(routes: Routes): void {
    routes.post('/phones/:phone/messages', async ({ req }) => {
      const { to, text, event_id } = check(writing, parseJson(await req.text()));
      const data = { from: req.param('phone'), to, type: 'text' as const, text: { body: text } };
      return this.#report(event_id, { type: 'message.received', data });
    });
    routes.post('/messages/:id/states', async ({ req }) => {
      const { event_id, ...reported } = check(state, parseJson(await req.text()));
      return this.#report(event_id, { type: 'message.state', data: { id: req.param('id'), ...reported } });
    });
    routes.post('/phones/:phone/user', async ({ req }) => {
      const { event_id, ...known } = check(user, parseJson(await req.text()));
      return this.#report(event_id, { type: 'user.updated', data: { phone_number: req.param('phone'), ...known } });
    });
    routes.delete('/phones/:phone/user', async ({ req }) => {
      const body = await req.text();
      const { event_id } = body === '' ? {} : check(removal, parseJson(body));
      return this.#report(event_id, { type: 'user.removed', data: { phone_number: req.param('phone') } });
    });
    routes.post('/requests/:id/answers', async ({ req }) => {
      const { event_id, answers } = check(answering, parseJson(await req.text()));
      return this.#report(event_id, { type: 'user_data.answered', data: { id: req.param('id'), answers } });
    });
    routes.post('/events', async ({ req }) => {
      const body = await req.text();
      parseJson(body);
      return responseOf(await this.#send(body));
    });
  }

  /** How users answer user data requests. */
  #addConsent(routes: Routes): void {
    routes.get('/consent', (c) => c.json(this.#consent.rules));
    routes.put('/consent', async (c) => {
      this.#consent.follow(parseJson(await c.req.text()));
      return c.json(this.#consent.rules);
    });
    routes.delete('/consent', () => {
      this.#consent.forget();
      return noContent();
    });
  }

  /** A call of the service. */
  async #take(call: IncomingCall): Promise<Answer> {
    const { header, body } = call;
    const signed = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [name, header(name) ?? '']);
    try {
      this.#webhook.verify(body, Object.fromEntries(signed), { jsonParse: false });
    } catch (error) {
      throw httpError(401, `The signature is not good: ${error instanceof Error ? error.message : error}.`);
    }
    const webhookId = String(header('webhook-id'));
    const event = eventIn(body);
    const record = this.inbox.enter(webhookId, event);
    if (event === undefined) {
      record.status = 400;
      throw httpError(400, 'The body is no event that the app network knows.');
    }
    const show = this.inbox.arrive(webhookId, event);
    const take = () => {
      // What comes again is answered again: the first answer stands.
      void call.over.then(() => this.#answerFor(event));
      show();
      return noContent();
    };
    const rule = this.#faultRules.ruleFor(event.data.to);
    return answerByRule({ rule, call, closing: this.#server.closing, record, take });
  }

  /** Lets the user answer a request, if the answer is configured. */
  async #answerFor(event: AppEvent): Promise<void> {
    if (event.type !== 'user_data.request') return;
    const answers = this.#consent.answersTo(event.data);
    if (answers === undefined) return;
    // Whoever looks for the answer finds out that there is none.
    await this.#report(undefined, { type: 'user_data.answered', data: { id: event.data.id, answers } }).catch(
      () => undefined,
    );
  }

  /** Reports an event to the service. */
  async #report(given: string | undefined, reported: ReportedEvent): Promise<Response> {
    const id = given ?? newId();
    const event = { id, timestamp: sortableTime(now()), ...reported };
    const note = this.reportedEvents.note(id, reported);
    const answer = await this.#send(JSON.stringify(event)).catch((error: unknown) => {
      note(undefined);
      throw error;
    });
    note(answer);
    return answer.status < 300 ? Response.json({ event, status: answer.status }) : responseOf(answer);
  }

  /** Sends events to the service. Returns its answer. */
  async #send(body: string): Promise<BridgeAnswer> {
    const headers = { authorization: `Bearer ${this.#appToken}`, 'content-type': 'application/json' };
    const answer = await this.#bridge.post({ path: '/v1/app/events', headers, body });
    if (answer === undefined) throw httpError(502, `The service does not answer at ${this.#bridge.expectService()}.`);
    return answer;
  }
}

/** The service's answer, as it came. */
const responseOf = ({ status, type, body }: BridgeAnswer): Response => {
  const headers = type === null ? {} : { 'content-type': type };
  // Bytes, because a text would get a content type of its own.
  return new Response(body === '' ? null : Buffer.from(body), { status, headers });
};
