/** A number of Turn: what it answers the service, and what it says to users. */
import { createHmac } from 'node:crypto';
import { HTTPException } from 'hono/http-exception';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import * as v from 'valibot';
import type { Bridge } from '../bridge.ts';
import { type Answer, httpError, parseJson } from '../http.ts';
import { botName, Conversations, echo } from '../platform/bot.ts';
import { Channel, type ChannelOptions, type Reading } from '../platform/channel.ts';
import { check, fields, filledText, oneOf, wholeNumber, yes } from '../schemas.ts';
import type { IncomingCall } from '../server.ts';
import { RateLimit } from './rate-limit.ts';
import { bodyOf, type Incoming, incoming, type Outgoing, report } from './wire.ts';

export const numberSettings = fields({
  /** What the service brings as its bearer token. */
  token: filledText,
  /** The service's token: in the address that Turn posts to. */
  bridge_token: filledText,
  /** What Turn signs with; it does not, where there is none. */
  hmac_secret: v.exactOptional(filledText),
  bot: v.exactOptional(botName, 'none'),
  shape: v.exactOptional(oneOf('channel', 'fallback'), 'channel'),
  /** How many calls there may be in a minute. */
  limit: v.exactOptional(wholeNumber(0), 60),
  /** Whether the status `failed` is an error, as it is in some versions. */
  refuses_failed: v.exactOptional(yes, true),
});

type NumberSettings = v.InferOutput<typeof numberSettings>;

interface ReceivedMessage {
  id: string;
  /** Without +. */
  from: string;
  name: string;
  text: string;
  timestamp: string;
}

interface SentMessage {
  /** As the service answered it; none, where it did not. */
  id: string | null;
  to: string;
  /** What was posted. */
  body: unknown;
  status: 'queued' | 'wired' | 'sent' | 'delivered' | 'read' | 'failed';
  /** None, where no answer came, or not yet. */
  answer: { status: number; body: string } | null;
}

interface TurnNumberOptions extends ChannelOptions {
  bridge: Bridge;
  /** Milliseconds that count as a minute. */
  minute: number;
}

export class TurnNumber {
  readonly channel: Channel<ReceivedMessage, SentMessage>;
  settings: NumberSettings;
  readonly #name: string;
  readonly #bridge: Bridge;
  readonly #limit: RateLimit;
  readonly #conversations = new Conversations();
  /** Content of users' messages, by id. */
  readonly #contents = new Map<string, string>();
  readonly #messages = new Map<string, SentMessage>();
  readonly #underWay = new Set<Promise<unknown>>();

  constructor(name: string, settings: NumberSettings, { bridge, minute, ...options }: TurnNumberOptions) {
    this.#name = name;
    this.settings = settings;
    this.channel = new Channel(options);
    this.#bridge = bridge;
    this.#limit = new RateLimit(minute);
  }

  /** How it is set up, without its secrets. */
  get description(): object {
    const { token: _token, bridge_token: _bridgeToken, hmac_secret: _secret, ...shown } = this.settings;
    return { number: this.#name, ...shown };
  }

  /** The service brings a user's message. */
  receive(incomingCall: IncomingCall): Promise<Answer> {
    return this.#answer('messages', incomingCall, (call) => {
      const message = messageIn(read(incoming, incomingCall));
      const { id, from, text } = message;
      return {
        phone: from,
        take: () => {
          const content = JSON.stringify([from, text]);
          const known = this.#contents.get(id);
          call.duplicate = known === content;
          if (known !== undefined && !call.duplicate)
            throw refusal(400, `The id ${id} belongs to another message already.`);
          if (!call.duplicate) this.#take(message, content, incomingCall);
          return Response.json({ messages: [{ id }] });
        },
      };
    });
  }

  /** The service reports what became of a message. */
  report(incomingCall: IncomingCall): Promise<Answer> {
    return this.#answer('statuses', incomingCall, () => {
      const { id, status, recipient_id } = read(report, incomingCall).status;
      if (status === 'failed' && this.settings.refuses_failed)
        throw refusal(400, 'The status failed is not supported.');
      return {
        phone: recipient_id,
        take: async (): Promise<Response> => {
          // The service may report before its answer, which tells the id, is here.
          if (!this.#messages.has(id)) await Promise.all(this.#underWay);
          const message = this.#messages.get(id);
          if (!message) throw refusal(400, `There is no message ${id}.`);
          message.status = status;
          this.channel.statuses.push({ id, status });
          return Response.json({});
        },
      };
    });
  }

  /**
   * Says something to a user. Answers the message as it is once the service has answered, or has not.
   *
   * @throws HTTPException — 502, the service's URL is not configured yet
   */
  async send(outgoing: Outgoing): Promise<SentMessage> {
    this.#bridge.expectService();
    const body = bodyOf(this.settings.shape, outgoing);
    const message: SentMessage = { id: null, to: outgoing.to, body, status: 'queued', answer: null };
    this.channel.sent.push(message);
    const posting = this.#post(message);
    this.#underWay.add(posting);
    await posting;
    this.#underWay.delete(posting);
    return message;
  }

  async #post(message: SentMessage): Promise<void> {
    const { bridge_token, hmac_secret } = this.settings;
    const body = JSON.stringify(message.body);
    const signature = hmac_secret && createHmac('sha256', hmac_secret).update(body).digest('base64');
    const answer = await this.#bridge.post({
      path: `/v1/webhook/turn/${Buffer.from(bridge_token).toString('base64url')}`,
      headers: { 'content-type': 'application/json', ...(signature && { 'x-turn-hook-signature': signature }) },
      body,
    });
    const id = answer && idIn(answer);
    message.answer = answer ? { status: answer.status, body: answer.body } : null;
    message.id = id ?? null;
    message.status = id === undefined ? 'failed' : 'wired';
    if (id !== undefined) this.#messages.set(id, message);
  }

  /** Answers a call by the rules that hold for both addresses. */
  async #answer(address: string, incomingCall: IncomingCall, reading: Reading): Promise<Answer> {
    const { token, limit } = this.settings;
    const answer = await this.channel.answer(address, incomingCall, (call) => {
      if (incomingCall.header('authorization') !== `Bearer ${token}`) throw refusal(401, 'Unauthorized');
      if (!this.#limit.count(limit)) throw refusal(429, 'Rate limit exceeded');
      return reading(call);
    });
    if (typeof answer === 'string') return answer;
    for (const [name, value] of Object.entries(this.#limit.headers(limit))) answer.headers.set(name, value);
    return answer;
  }

  #take(message: ReceivedMessage, content: string, { over }: IncomingCall): void {
    const { id, from, text } = message;
    this.#contents.set(id, content);
    this.channel.received.push(message);
    if (this.settings.bot === 'echo')
      this.#conversations.next(from, over, () => this.send({ to: from, text: echo(text).text }));
  }
}

/** The message that a call brings, without what people do not look for. */
const messageIn = ({ contact, message }: Incoming): ReceivedMessage => ({
  id: message.id,
  from: message.from,
  name: contact.profile.name,
  text: message.text.body,
  timestamp: message.timestamp,
});

/** @throws HTTPException — 400, as Turn writes it */
const read = <Schema extends v.GenericSchema>(schema: Schema, { body }: IncomingCall): v.InferOutput<Schema> => {
  try {
    return check(schema, parseJson(body));
  } catch (error) {
    if (error instanceof HTTPException) throw refusal(400, error.message);
    throw error;
  }
};

const taken = v.looseObject({ messages: v.looseTuple([v.looseObject({ id: v.string() })]) });

/** The id that the service has for a message that it took. */
const idIn = ({ status, body }: { status: number; body: string }): string | undefined => {
  if (status < 200 || status > 299) return undefined;
  const { success, output } = v.safeParse(v.pipe(v.string(), v.parseJson(), taken), body);
  return success ? output.messages[0].id : undefined;
};

/** A refusal as Turn writes it. */
export const refusal = (status: ContentfulStatusCode, title: string): HTTPException =>
  httpError(status, title, { errors: [{ title }] });
