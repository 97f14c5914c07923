/**
 * A simulated app network. It receives the service's messages to phones, responds by its fault rules, and reports
 * events on request. Without a request, it reports only the configured answers to data requests, and what
 * `SimulatedUsers` reports. `GET /` returns the help text.
 */
import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import * as v from 'valibot';
import { between, now, sortableTime } from '../../../../shared/core/clock.ts';
import { newId } from '../../../../shared/core/ids.ts';
import { Bridge, type BridgeResponse } from '../bridge.ts';
import { respondByRule } from '../calls.ts';
import type { Changes } from '../changes.ts';
import { addFaultRoutes, addPhoneFaultRoutes, FaultRules } from '../fault-rules.ts';
import { appNetworkHelp } from '../help.ts';
import { type CallEnd, httpError, noContent, parseJson } from '../http.ts';
import { check, fields, oneOf, text, yes } from '../schemas.ts';
import {
  endCall,
  type IncomingCall,
  newRoutes,
  type Routes,
  readCall,
  type ServedCall,
  SimulatorServer,
} from '../server.ts';
import { Consent } from './consent.ts';
import { type AppEvent, eventIn, Inbox } from './inbox.ts';
import { type ReportedEvent, ReportedEvents, type ReportedState } from './reported-events.ts';
import { faultOfSignature } from './signature.ts';

interface AppNetworkOptions {
  /** A port of the loopback interface; 0 selects a free one. */
  port: number;
  /** The secret that the service signs with: `whsec_` and base64. Default: a new one. */
  secret?: string;
  /** Returns a number from 0 to below 1, for fault rules with a share. */
  random?: () => number;
}

/** The service that receives users' events. */
interface Service {
  bridgeUrl: string;
  appToken: string;
}

const eventId = { event_id: v.exactOptional(text) };

const anything = v.exactOptional(v.looseObject({}, 'must be an object'));

const writing = fields({
  to: text,
  text: v.exactOptional(text),
  ...{ image: anything, file: anything, audio: anything, video: anything, location: anything },
  ...{ in_reply_to: v.exactOptional(text), quick_reply: anything },
  ...eventId,
});

/** Files of users that are kept. */
const MAX_FILES = 20;
const state = fields({
  state: oneOf('delivered_to_user', 'read', 'delivery_failed'),
  reason: v.exactOptional(text),
  ...eventId,
});
const user = fields({
  id: v.exactOptional(text),
  panelist: v.exactOptional(yes),
  properties: v.exactOptional(v.record(v.string(), v.unknown(), 'must be an object')),
  ...eventId,
});
/** For events without further data. */
const bare = fields(eventId);
const answering = fields({
  answers: v.record(v.string(), oneOf('approved', 'denied'), 'must be an object'),
  ...eventId,
});

const withdrawing = fields({ properties: v.array(text, 'must be a list'), ...eventId });

/** A state of a message that a phone reports. */
export interface StateReport {
  id: string;
  state: ReportedState;
}

export class AppNetwork {
  /** The URL of the phone's page and of the simulator's own requests. */
  readonly phoneUrl: string;
  /** The URL that the service posts to. */
  readonly appUrl: string;
  /** The secret that the service signs with. */
  readonly secret: string;
  readonly #server: SimulatorServer;
  readonly #bridge: Bridge;
  readonly #webhook: Webhook;
  readonly #faultRules: FaultRules;
  /** Calls and messages from the service. */
  readonly inbox = new Inbox();
  /** Events that were reported to the service. */
  readonly reportedEvents = new ReportedEvents();
  readonly #consent = new Consent();
  #appToken = '';
  readonly #reportWatchers: ((event: string) => void)[] = [];
  /** What users have sent, by id. */
  readonly #files = new Map<string, { bytes: ArrayBuffer; type: string }>();

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

  /** @throws StartError — the port is not available */
  static async start({
    port,
    secret = `whsec_${randomBytes(32).toString('base64')}`,
    random = () => between(0, 1),
  }: AppNetworkOptions): Promise<AppNetwork> {
    return new AppNetwork(await SimulatorServer.start(port), secret, random);
  }

  /** The value of the stack's secret with which the service calls this network. */
  get stackSecret(): string {
    return JSON.stringify({ url: this.appUrl, secret: this.secret });
  }

  /** Sets the service that receives users' events. */
  connect({ bridgeUrl, appToken }: Service): void {
    this.#bridge.connect(bridgeUrl);
    this.#appToken = appToken;
  }

  /** Serves these routes too, for example the phone's page. */
  serve(routes: Routes): void {
    this.#server.add(routes);
  }

  get help(): string {
    return appNetworkHelp(this.phoneUrl);
  }

  /** Aborted when the server closes. */
  get closing(): AbortSignal {
    return this.#server.closing;
  }

  /** The rules by which it responds to the service. */
  get faultRules(): FaultRules {
    return this.#faultRules;
  }

  /** Calls the watcher at the end of each call of the service. */
  watchCalls(watcher: (call: ServedCall) => void): void {
    this.#server.watchCalls(/^\/app$/, watcher);
  }

  /** Calls the watcher with the id of each event that the network is about to report without a request. */
  watchOwnReports(watcher: (event: string) => void): void {
    this.#reportWatchers.push(watcher);
  }

  get changes(): Changes {
    return this.#server.changes;
  }

  /** Ends every call in progress, including calls that hang. */
  close(): Promise<void> {
    return this.#server.close();
  }

  get #routes(): Routes {
    const routes = newRoutes();
    routes.post('/app', async (c) => endCall(c, await this.#handle(await readCall(c))));
    this.#addInbox(routes);
    this.#addEvents(routes);
    this.#addConsent(routes);
    addFaultRoutes(routes, '', () => this.#faultRules);
    addPhoneFaultRoutes(routes, this.#faultRules);
    return routes;
  }

  /** Adds the routes that show what the service sent. */
  #addInbox(routes: Routes): void {
    routes.get('/phones', (c) => c.json(this.inbox.phones));
    routes.get('/phones/:phone/messages', ({ req }) => {
      const phone = req.param('phone');
      return Response.json(req.query('all') === 'true' ? this.inbox.sentTo(phone) : this.inbox.shownOn(phone));
    });
    routes.get('/businesses', () => Response.json(this.inbox.businesses));
    routes.get('/calls', () => Response.json(this.inbox.calls));
    routes.delete('/calls', () => {
      this.inbox.clear();
      this.reportedEvents.clear();
      return noContent();
    });
  }

  /** Adds the routes that report events to the service. */
  #addEvents(routes: Routes): void {
    routes.post('/phones/:phone/messages', async ({ req }) => {
      const {
        to,
        event_id,
        in_reply_to,
        quick_reply,
        text: body,
        ...rest
      } = check(writing, parseJson(await req.text()));
      const given = { ...rest, ...(body !== undefined && { text: { body } }) };
      const [type, ...others] = Object.keys(given);
      if (type === undefined || others.length > 0) {
        throw httpError(422, 'The body must have one of text, image, file, audio, video and location.');
      }
      // The service validates it.
      const data = { from: req.param('phone'), to, type, ...given, in_reply_to, quick_reply } as Extract<
        ReportedEvent,
        { type: 'message.received' }
      >['data'];
      return this.#report(event_id, { type: 'message.received', data });
    });
    routes.post('/files', async ({ req }) => {
      const id = newId();
      this.#files.set(id, { bytes: await req.arrayBuffer(), type: req.header('content-type') ?? 'image/png' });
      for (const old of [...this.#files.keys()].slice(0, -MAX_FILES)) this.#files.delete(old);
      return Response.json({ url: `${this.phoneUrl}/files/${id}` });
    });
    routes.get('/files/:id', ({ req }) => {
      const file = this.#files.get(req.param('id'));
      if (file === undefined) throw httpError(404, 'There is no such file, or it is not kept any more.');
      const headers = {
        'content-type': file.type,
        'content-security-policy': 'sandbox',
        'x-content-type-options': 'nosniff',
      };
      return new Response(file.bytes, { headers });
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
      const { event_id } = body === '' ? {} : check(bare, parseJson(body));
      return this.#report(event_id, { type: 'user.removed', data: { phone_number: req.param('phone') } });
    });
    routes.get('/phones/:phone/stops', (c) => c.json(this.reportedEvents.stopsOf(c.req.param('phone'))));
    for (const [method, type] of [['PUT', 'user.stopped'] as const, ['DELETE', 'user.started'] as const]) {
      routes.on(method, '/phones/:phone/stops/:bot', async ({ req }) => {
        const body = await req.text();
        const { event_id } = body === '' ? {} : check(bare, parseJson(body));
        return this.#report(event_id, { type, data: { from: req.param('phone'), to: req.param('bot') } });
      });
    }
    routes.post('/requests/:id/answers', async ({ req }) => {
      const { event_id, answers } = check(answering, parseJson(await req.text()));
      return this.#report(event_id, { type: 'user_data.answered', data: { id: req.param('id'), answers } });
    });
    routes.post('/requests/:id/withdrawals', async ({ req }) => {
      const { event_id, properties } = check(withdrawing, parseJson(await req.text()));
      return this.#report(event_id, { type: 'user_data.withdrawn', data: { id: req.param('id'), properties } });
    });
    routes.post('/events', async ({ req }) => {
      const body = await req.text();
      parseJson(body);
      return responseOf(await this.#send(body));
    });
  }

  /** Adds the routes that configure users' answers to user data requests. */
  #addConsent(routes: Routes): void {
    routes.get('/consent', (c) => c.json(this.#consent.rules));
    routes.put('/consent', async (c) => {
      this.#consent.set(parseJson(await c.req.text()));
      return c.json(this.#consent.rules);
    });
    routes.delete('/consent', () => {
      this.#consent.clear();
      return noContent();
    });
  }

  /** Handles a call of the service. */
  async #handle(call: IncomingCall): Promise<CallEnd> {
    const { header, body } = call;
    const webhookId = header('webhook-id') ?? '';
    const fault = faultOfSignature(this.#webhook, {
      id: webhookId,
      timestamp: header('webhook-timestamp') ?? '',
      signatures: header('webhook-signature') ?? '',
      body,
    });
    if (fault !== undefined) throw httpError(401, `The signature is invalid: ${fault}.`);
    const event = eventIn(body);
    const record = this.inbox.addCall(webhookId, event);
    if (event === undefined) {
      record.status = 400;
      throw httpError(400, 'The body is not an event of the app network.');
    }
    const show = this.inbox.addAttempt(webhookId, event);
    const accept = () => {
      // A repeated request is answered again: the service keeps the first answer.
      void call.over.then(() => this.#answerFor(event));
      show();
      return noContent();
    };
    const rule = this.#faultRules.match(event.type === 'account.updated' ? undefined : event.data.to) ?? {};
    return respondByRule({ rule, call, closing: this.#server.closing, record, accept });
  }

  /** Answers a user data request for the user, if an answer is configured. */
  async #answerFor(event: AppEvent): Promise<void> {
    if (event.type !== 'user_data.request') return;
    const answers = this.#consent.answersTo(event.data);
    if (answers === undefined) return;
    // A failed report is ignored: the request stays unanswered.
    await this.#report(undefined, { type: 'user_data.answered', data: { id: event.data.id, answers } }).catch(
      () => undefined,
    );
  }

  /** Reports an event to the service. */
  async #report(given: string | undefined, reported: ReportedEvent): Promise<Response> {
    const id = given ?? newId();
    const event = { id, timestamp: sortableTime(now()), ...reported };
    const recordResponse = this.reportedEvents.record(id, reported);
    const response = await this.#send(JSON.stringify(event)).catch((error: unknown) => {
      recordResponse(undefined);
      throw error;
    });
    recordResponse(response);
    return response.status < 300 ? Response.json({ event, status: response.status }) : responseOf(response);
  }

  /** Reports states of messages in one request: at most 100. Returns false if the service could not take them now. */
  async reportStates(reports: StateReport[]): Promise<boolean> {
    const events = reports.map((data) => ({
      id: newId(),
      timestamp: sortableTime(now()),
      type: 'message.state' as const,
      data,
    }));
    for (const watcher of this.#reportWatchers) for (const { id } of events) watcher(id);
    const recordResponses = events.map(({ id, type, data }) => this.reportedEvents.record(id, { type, data }));
    const response = await this.#send(JSON.stringify(events)).catch(() => undefined);
    for (const recordResponse of recordResponses) recordResponse(response);
    return response !== undefined && response.status < 500 && response.status !== 429;
  }

  /** Sends events to the service. @throws HTTPException — 502, the service does not respond */
  async #send(body: string): Promise<BridgeResponse> {
    const headers = { authorization: `Bearer ${this.#appToken}`, 'content-type': 'application/json' };
    const response = await this.#bridge.post({ path: '/v1/app/events', headers, body });
    if (response === undefined)
      throw httpError(502, `The service does not respond at ${this.#bridge.expectService()}.`);
    return response;
  }
}

/** The service's response, unchanged. */
const responseOf = ({ status, type, body }: BridgeResponse): Response => {
  const headers = type === null ? {} : { 'content-type': type };
  // Bytes, because a string would get a default content type.
  return new Response(body === '' ? null : Buffer.from(body), { status, headers });
};
