/** A number of Turn: its responses to the service, and its messages to users. */
import { createHmac } from 'node:crypto';
import { HTTPException } from 'hono/http-exception';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import * as v from 'valibot';
import type { Bridge } from '../bridge.ts';
import { type CallEnd, httpError, parseJson } from '../http.ts';
import { botName, Conversations, echo } from '../platform/bot.ts';
import { type CallReader, Channel, type ChannelOptions } from '../platform/channel.ts';
import { check, fields, filledText, oneOf, wholeNumber, yes } from '../schemas.ts';
import type { IncomingCall } from '../server.ts';
import { RateLimit } from './rate-limit.ts';
import { bodyOf, type Incoming, incoming, type Outgoing, report } from './wire.ts';

export const numberSettings = fields({
  /** The bearer token of the service's calls. */
  token: filledText,
  /** The service's token, which is part of the URL that Turn posts to. */
  bridge_token: filledText,
  /** The secret that Turn signs with; without it, Turn does not sign. */
  hmac_secret: v.exactOptional(filledText),
  bot: v.exactOptional(botName, 'none'),
  shape: v.exactOptional(oneOf('channel', 'fallback'), 'channel'),
  /** Maximum number of calls per minute. */
  limit: v.exactOptional(wholeNumber(0), 60),
  /** Whether the status `failed` is rejected, as in some versions. */
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
  /** The id in the service's response; null without one. */
  id: string | null;
  to: string;
  /** The body that was posted. */
  body: unknown;
  status: 'queued' | 'wired' | 'sent' | 'delivered' | 'read' | 'failed';
  /** The service's response; null if there is none, or none yet. */
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
  readonly #inProgress = new Set<Promise<unknown>>();

  constructor(name: string, settings: NumberSettings, { bridge, minute, ...options }: TurnNumberOptions) {
    this.#name = name;
    this.settings = settings;
    this.channel = new Channel(options);
    this.#bridge = bridge;
    this.#limit = new RateLimit(minute);
  }

  /** The settings, without secrets. */
  get description(): object {
    const { token: _token, bridge_token: _bridgeToken, hmac_secret: _secret, ...shown } = this.settings;
    return { number: this.#name, ...shown };
  }

  /** Handles a user's message from the service. */
  receive(incomingCall: IncomingCall): Promise<CallEnd> {
    return this.#respond('messages', incomingCall, (call) => {
      const message = messageIn(read(incoming, incomingCall));
      const { id, from, text } = message;
      return {
        phone: from,
        accept: () => {
          const content = JSON.stringify([from, text]);
          const known = this.#contents.get(id);
          call.duplicate = known === content;
          if (known !== undefined && !call.duplicate) throw turnError(400, `The id ${id} belongs to another message.`);
          if (!call.duplicate) this.#accept(message, content, incomingCall);
          return Response.json({ messages: [{ id }] });
        },
      };
    });
  }

  /** Handles a status report from the service. */
  report(incomingCall: IncomingCall): Promise<CallEnd> {
    return this.#respond('statuses', incomingCall, () => {
      const { id, status, recipient_id } = read(report, incomingCall).status;
      if (status === 'failed' && this.settings.refuses_failed)
        throw turnError(400, 'The status failed is not supported.');
      return {
        phone: recipient_id,
        accept: async (): Promise<Response> => {
          // The service may report before its response, which contains the id, has arrived.
          if (!this.#messages.has(id)) await Promise.all(this.#inProgress);
          const message = this.#messages.get(id);
          if (!message) throw turnError(400, `There is no message ${id}.`);
          message.status = status;
          this.channel.statuses.push({ id, status });
          return Response.json({});
        },
      };
    });
  }

  /**
   * Sends a message to a user. Returns it after the service's response, or after the timeout.
   *
   * @throws HTTPException — 502, the service's URL is not configured yet
   */
  async send(outgoing: Outgoing): Promise<SentMessage> {
    this.#bridge.expectService();
    const body = bodyOf(this.settings.shape, outgoing);
    const message: SentMessage = { id: null, to: outgoing.to, body, status: 'queued', answer: null };
    this.channel.sent.push(message);
    const request = this.#post(message);
    this.#inProgress.add(request);
    await request;
    this.#inProgress.delete(request);
    return message;
  }

  async #post(message: SentMessage): Promise<void> {
    const { bridge_token, hmac_secret } = this.settings;
    const body = JSON.stringify(message.body);
    const signature = hmac_secret && createHmac('sha256', hmac_secret).update(body).digest('base64');
    const response = await this.#bridge.post({
      path: `/v1/webhook/turn/${Buffer.from(bridge_token).toString('base64url')}`,
      headers: { 'content-type': 'application/json', ...(signature && { 'x-turn-hook-signature': signature }) },
      body,
    });
    const id = response && idIn(response);
    message.answer = response ? { status: response.status, body: response.body } : null;
    message.id = id ?? null;
    message.status = id === undefined ? 'failed' : 'wired';
    if (id !== undefined) this.#messages.set(id, message);
  }

  /** Handles a call of either endpoint: checks the token and the rate limit. */
  async #respond(address: string, incomingCall: IncomingCall, reader: CallReader): Promise<CallEnd> {
    const { token, limit } = this.settings;
    const end = await this.channel.respond(address, incomingCall, (call) => {
      if (incomingCall.header('authorization') !== `Bearer ${token}`) throw turnError(401, 'Unauthorized');
      if (!this.#limit.count(limit)) throw turnError(429, 'Rate limit exceeded');
      return reader(call);
    });
    if (typeof end === 'string') return end;
    for (const [name, value] of Object.entries(this.#limit.headers(limit))) end.headers.set(name, value);
    return end;
  }

  #accept(message: ReceivedMessage, content: string, { over }: IncomingCall): void {
    const { id, from, text } = message;
    this.#contents.set(id, content);
    this.channel.received.push(message);
    if (this.settings.bot === 'echo')
      this.#conversations.next(from, over, () => this.send({ to: from, text: echo(text).text }));
  }
}

/** The message in a call, with the fields that `/received` shows. */
const messageIn = ({ contact, message }: Incoming): ReceivedMessage => ({
  id: message.id,
  from: message.from,
  name: contact.profile.name,
  text: message.text.body,
  timestamp: message.timestamp,
});

/** The validated body. @throws HTTPException — 400, in Turn's format */
const read = <Schema extends v.GenericSchema>(schema: Schema, { body }: IncomingCall): v.InferOutput<Schema> => {
  try {
    return check(schema, parseJson(body));
  } catch (error) {
    if (error instanceof HTTPException) throw turnError(400, error.message);
    throw error;
  }
};

const acceptedMessage = v.looseObject({ messages: v.looseTuple([v.looseObject({ id: v.string() })]) });

/** The message id in the service's response; undefined if it rejected the message. */
const idIn = ({ status, body }: { status: number; body: string }): string | undefined => {
  if (status < 200 || status > 299) return undefined;
  const { success, output } = v.safeParse(v.pipe(v.string(), v.parseJson(), acceptedMessage), body);
  return success ? output.messages[0].id : undefined;
};

/** An error in Turn's format. */
export const turnError = (status: ContentfulStatusCode, title: string): HTTPException =>
  httpError(status, title, { errors: [{ title }] });
