/**
 * A simulated app network: takes what the service sends to phones, answers as it is told, and speaks for the phones'
 * users. It reports nothing by itself, but for consent that users were told to give. A GET of its address tells how to use it.
 */
import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import * as v from 'valibot';
import { between, now, sortableTime } from '../../../../shared/core/clock.ts';
import { newId } from '../../../../shared/core/ids.ts';
import { Bridge } from '../bridge.ts';
import { answerAsTold } from '../calls.ts';
import type { Changes } from '../changes.ts';
import { Behaviour, behaviourRoutes } from '../fault-rules.ts';
import { appNetworkHelp } from '../help.ts';
import { type Answer, HttpRefusal, json, parseJson, type Reply } from '../http.ts';
import { check, fields, oneOf, text, yes } from '../schemas.ts';
import { type Request, type Routes, SimulatedServer } from '../server.ts';
import { Consent } from './consent.ts';
import { type AppEvent, eventIn, Inbox } from './inbox.ts';
import { Said, type Saying } from './reported-events.ts';

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
  readonly #server: SimulatedServer;
  readonly #bridge: Bridge;
  readonly #webhook: Webhook;
  readonly #behaviour: Behaviour;
  /** What came from the service. */
  readonly inbox = new Inbox();
  /** What the service was told. */
  readonly said = new Said();
  readonly #consent = new Consent();
  #appToken = '';

  private constructor(server: SimulatedServer, secret: string, random: () => number) {
    this.phoneUrl = server.url;
    this.appUrl = `${server.url}/app`;
    this.secret = secret;
    this.#server = server;
    this.#bridge = new Bridge(server);
    this.#webhook = new Webhook(secret);
    this.#behaviour = new Behaviour(random);
    server.serve({ ...this.#routes, ...behaviourRoutes('', () => this.#behaviour) }, this.help);
  }

  /** @throws StartError — the port cannot be had */
  static async start({
    port,
    secret = `whsec_${randomBytes(32).toString('base64')}`,
    random = () => between(0, 1),
  }: AppNetworkOptions): Promise<AppNetwork> {
    return new AppNetwork(await SimulatedServer.start(port), secret, random);
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

  readonly #routes: Routes = {
    'POST /app': (request) => this.#take(request),
    'GET /phones': () => json(200, this.inbox.phones),
    'GET /phones/{phone}/messages': ({ parameters: { phone = '' }, query }) =>
      json(200, query.get('all') === 'true' ? this.inbox.sentTo(phone) : this.inbox.shownOn(phone)),
    'GET /calls': () => json(200, this.inbox.calls),
    'DELETE /calls': () => {
      this.inbox.forget();
      this.said.forget();
      return { status: 204 };
    },
    'POST /phones/{phone}/messages': ({ parameters: { phone = '' }, body }) => {
      const { to, text, event_id } = check(writing, parseJson(body));
      return this.#speak(event_id, {
        type: 'message.received',
        data: { from: phone, to, type: 'text', text: { body: text } },
      });
    },
    'POST /messages/{id}/states': ({ parameters: { id = '' }, body }) => {
      const { event_id, ...reported } = check(state, parseJson(body));
      return this.#speak(event_id, { type: 'message.state', data: { id, ...reported } });
    },
    'POST /phones/{phone}/user': ({ parameters: { phone = '' }, body }) => {
      const { event_id, ...known } = check(user, parseJson(body));
      return this.#speak(event_id, { type: 'user.updated', data: { phone_number: phone, ...known } });
    },
    'DELETE /phones/{phone}/user': ({ parameters: { phone = '' }, body }) => {
      const { event_id } = body.length === 0 ? {} : check(removal, parseJson(body));
      return this.#speak(event_id, { type: 'user.removed', data: { phone_number: phone } });
    },
    'POST /requests/{id}/answers': ({ parameters: { id = '' }, body }) => {
      const { event_id, answers } = check(answering, parseJson(body));
      return this.#speak(event_id, { type: 'user_data.answered', data: { id, answers } });
    },
    'GET /consent': () => json(200, this.#consent.rules),
    'PUT /consent': ({ body }) => {
      this.#consent.follow(parseJson(body));
      return json(200, this.#consent.rules);
    },
    'DELETE /consent': () => {
      this.#consent.forget();
      return { status: 204 };
    },
    'POST /events': ({ body }) => {
      parseJson(body);
      return this.#report(body.toString());
    },
  };

  /** A call of the service. */
  async #take(request: Request): Promise<Answer> {
    const { headers, body } = request;
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
    const call = this.inbox.enter(webhookId, event);
    if (event === undefined) {
      call.status = 400;
      throw new HttpRefusal(400, 'The body is no event that the app network knows.');
    }
    const show = this.inbox.arrive(webhookId, event);
    const take = () => {
      // What comes again is answered again: the first answer stands.
      void request.over.then(() => this.#answerFor(event));
      show();
      return { status: 204 };
    };
    const rule = this.#behaviour.ruleFor(event.data.to);
    return answerAsTold({ rule, request, closing: this.#server.closing, call, take });
  }

  /** Has the user answer a request, where they were told how. */
  async #answerFor(event: AppEvent): Promise<void> {
    if (event.type !== 'user_data.request') return;
    const answers = this.#consent.answersTo(event.data);
    if (answers === undefined) return;
    // Whoever looks for the answer finds out that there is none.
    await this.#speak(undefined, { type: 'user_data.answered', data: { id: event.data.id, answers } }).catch(
      () => undefined,
    );
  }

  /** Has the app's side say something. */
  async #speak(given: string | undefined, saying: Saying): Promise<Reply> {
    const id = given ?? newId();
    const event = { id, timestamp: sortableTime(now()), ...saying };
    const note = this.said.note(id, saying);
    const reply = await this.#report(JSON.stringify(event)).catch((error: unknown) => {
      note(undefined);
      throw error;
    });
    note(reply);
    return reply.status < 300 ? json(200, { event, status: reply.status }) : reply;
  }

  /** Sends events to the service. Answers what it answers. */
  async #report(body: string): Promise<Reply> {
    const headers = { authorization: `Bearer ${this.#appToken}`, 'content-type': 'application/json' };
    const answer = await this.#bridge.post({ path: '/v1/app/events', headers, body });
    if (answer === undefined)
      throw new HttpRefusal(502, `The service does not answer at ${this.#bridge.expectService()}.`);
    return answer;
  }
}
