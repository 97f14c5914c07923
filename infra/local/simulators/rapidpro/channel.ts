/** A channel of RapidPro of the type "External API": its responses to the service, and its messages to users. */
import type { HTTPException } from 'hono/http-exception';
import * as v from 'valibot';
import { now } from '../../../../shared/core/clock.ts';
import { newId } from '../../../../shared/core/ids.ts';
import { calendarDay } from '../../../../shared/validation/schemas.ts';
import { time } from '../calls.ts';
import { type CallEnd, httpError } from '../http.ts';
import { botName, Conversations, echo } from '../platform/bot.ts';
import { Channel, type ChannelOptions } from '../platform/channel.ts';
import { fields, filledText, oneOf, phone, text, wholeNumber } from '../schemas.ts';
import type { IncomingCall } from '../server.ts';
import { courierVersions, type Sending, type SentMessage } from './sending.ts';
import type { StatusWriter } from './status-writer.ts';

export const channelSettings = fields({
  /** The channel's Authorization header: the bare token. */
  token: filledText,
  bot: v.exactOptional(botName, 'none'),
  /** The type of message ids: older versions use integers, newer versions UUIDs. */
  ids: v.exactOptional(oneOf('integer', 'uuid'), 'integer'),
  /** Maximum bytes of text in a request. */
  max_length: v.exactOptional(wholeNumber(1), 2048),
  /** The form field that contains the user's number. */
  to_field: v.exactOptional(oneOf('to_no_plus', 'to'), 'to_no_plus'),
  /** How long the same text of a user counts as a repeat, in milliseconds: at most this long, at least half of it. */
  guard_ms: v.exactOptional(wholeNumber(0)),
  /** The version of courier, which decides the retries and the texts of errors. */
  courier: v.exactOptional(oneOf(...courierVersions), '26.3.38'),
  /** RapidPro rejects calls of a channel that is not active. */
  state: v.exactOptional(oneOf('active', 'inactive', 'database_down'), 'active'),
});

type ChannelSettings = v.InferOutput<typeof channelSettings>;

export const outgoing = fields({
  to: phone,
  text,
  quick_replies: v.exactOptional(v.array(text, 'must be a list'), []),
  attachments: v.exactOptional(v.array(text, 'must be a list'), []),
});

export type Outgoing = v.InferInput<typeof outgoing>;

interface ReceivedMessage {
  /** Without +. */
  from: string;
  text: string;
  /** The date in the request; by default, the time of the request. */
  date: string;
}

/** The statuses that the service reports, with RapidPro's letters. */
const LETTERS = { sent: 'S', delivered: 'D', failed: 'F' };

export type Report = keyof typeof LETTERS;

/** How long the same text of a user counts as a repeat, in minutes: at most 4 seconds. */
const GUARD = 1 / 15;

interface RapidProChannelOptions extends ChannelOptions {
  /** Milliseconds that count as a minute. */
  minute: number;
  statuses: StatusWriter;
}

export class RapidProChannel {
  readonly channel: Channel<ReceivedMessage, SentMessage>;
  settings: ChannelSettings;
  readonly #name: string;
  /** Numbers of the contacts that were stopped, without +, in order. */
  readonly stopped: string[] = [];
  readonly #sending: Sending;
  readonly #options: RapidProChannelOptions;
  readonly #messages = new Map<string, SentMessage>();
  /** Recent messages, by sender and text. */
  readonly #guard = new Map<string, { uuid: string; came: number }>();
  readonly #conversations = new Conversations();
  // Based on the time, so that a new channel does not reuse ids: the service treats the same id and text as a repeat.
  #lastId = Math.floor(now() / 1000);

  constructor(name: string, settings: ChannelSettings, sending: Sending, options: RapidProChannelOptions) {
    this.#name = name;
    this.settings = settings;
    this.#sending = sending;
    this.#options = options;
    this.channel = new Channel(options);
  }

  /** The settings, without the token. */
  get description(): object {
    const { token: _, ...shown } = this.settings;
    return { channel: this.#name, ...shown };
  }

  /** Handles a user's message from the service. */
  receive(incoming: IncomingCall): Promise<CallEnd> {
    return this.channel.respond('receive', incoming, (call) => {
      this.#expectActive();
      const message = messageIn(formIn(incoming));
      return {
        phone: message.from,
        accept: () => {
          const repeated = this.#repeated(message);
          call.duplicate = repeated !== undefined;
          const uuid = repeated ?? this.#accept(message, incoming);
          const { from, text, date } = message;
          return accepted('Message Accepted', {
            type: 'msg',
            channel_uuid: this.#name,
            msg_uuid: uuid,
            text,
            urn: `tel:+${from}`,
            received_on: date,
          });
        },
      };
    });
  }

  /** Handles a status report from the service. */
  report(report: Report, incoming: IncomingCall): Promise<CallEnd> {
    return this.channel.respond(report, incoming, () => {
      this.#expectActive();
      const id = formIn(incoming).get('id') ?? '';
      const whole = this.settings.ids === 'integer';
      if (id === '') throw rapidproError("field 'id' required");
      if (whole && !/^-?\d{1,15}$/.test(id)) throw rapidproError('schema: error converting value for "id"');
      const message = this.#messages.get(id);
      return {
        ...(message && { phone: message.to }),
        accept: () => {
          this.channel.statuses.push({ id, status: report });
          if (message) void this.#options.statuses.write(message, report);
          return accepted('Status Update Accepted', {
            type: 'status',
            channel_uuid: this.#name,
            status: LETTERS[report],
            msg_id: whole ? Number(id) : id,
          });
        },
      };
    });
  }

  /** Handles the report that a user was removed: stops the contact. */
  stop(incoming: IncomingCall): Promise<CallEnd> {
    return this.channel.respond('stopped', incoming, () => {
      this.#expectActive();
      const sender = formIn(incoming).get('from') ?? '';
      if (sender === '') throw rapidproError("field 'from' required");
      const from = numberIn(sender);
      return {
        phone: from,
        accept: () => {
          this.stopped.push(from);
          return accepted('Event Accepted', {
            type: 'event',
            channel_uuid: this.#name,
            event_type: 'stop_contact',
            urn: `tel:+${from}`,
            received_on: time(),
          });
        },
      };
    });
  }

  /** Sends a message to a user. Returns it as it is after the first attempt. */
  async send({ to, text, quick_replies = [], attachments = [] }: Outgoing): Promise<SentMessage> {
    this.#sending.expectService();
    const id = this.settings.ids === 'integer' ? String(++this.#lastId) : newId();
    const message: SentMessage = { id, to, text, quick_replies, attachments, status: 'queued', requests: [] };
    this.channel.sent.push(message);
    this.#messages.set(id, message);
    await this.#sending.send(message, () => this.settings);
    return message;
  }

  /**
   * Sends all parts of a message again, with the same id.
   *
   * @throws HTTPException — 404, the channel has no such message
   */
  async resend(id: string): Promise<SentMessage> {
    const message = this.#messages.get(id);
    if (!message) throw httpError(404, `The channel has no message ${id}.`);
    await this.#sending.resend(message, this.settings);
    return message;
  }

  /** @throws HTTPException — the channel is not active, or the database is down */
  #expectActive(): void {
    const { state, courier } = this.settings;
    if (state === 'inactive') {
      throw rapidproError(
        courier === '8.2.1' ? 'channel not found' : `unable to find channel with uuid: ${this.#name}`,
      );
    }
    if (state === 'active') return;
    if (courier === '8.2.1') throw rapidproError('dial tcp 127.0.0.1:5432: connect: connection refused');
    throw httpError(503, 'The database is down.');
  }

  /** The id of the message that this one repeats. */
  #repeated({ from, text }: ReceivedMessage): string | undefined {
    const last = this.#guard.get(guardKey(from, text));
    const half = (this.settings.guard_ms ?? GUARD * this.#options.minute) / 2;
    // RapidPro remembers the messages of the current interval and of the previous one.
    const isRemembered = last && half > 0 && Math.floor(now() / half) - Math.floor(last.came / half) <= 1;
    return isRemembered ? last.uuid : undefined;
  }

  #accept(message: ReceivedMessage, { over }: IncomingCall): string {
    const { from, text } = message;
    const uuid = newId();
    this.#guard.set(guardKey(from, text), { uuid, came: now() });
    this.channel.received.push(message);
    if (this.settings.bot === 'echo')
      this.#conversations.next(from, over, () => this.send({ to: from, ...echo(text) }));
    return uuid;
  }
}

const guardKey = (from: string, text: string): string => `${from} ${text}`;

/** RapidPro reads a body that is not a form as a form without fields. */
const formIn = ({ header, body }: IncomingCall): URLSearchParams => {
  const isForm = header('content-type')?.startsWith('application/x-www-form-urlencoded');
  return new URLSearchParams(isForm ? body.toString() : '');
};

const messageIn = (form: URLSearchParams): ReceivedMessage => {
  const sender = form.get('from') ?? form.get('sender') ?? '';
  const date = form.get('date') ?? form.get('time') ?? '';
  if (sender === '') throw rapidproError("must have one of 'sender' or 'from' set");
  if (date !== '' && !isRfc3339(date)) throw rapidproError('invalid date format, must be RFC 3339');
  return { from: numberIn(sender), text: form.get('text') ?? '', date: date || time() };
};

/** @throws HTTPException — 400, it is not a phone number */
const numberIn = (sender: string): string => {
  const [, number] = /^\s*\+?([1-9]\d{6,14})\s*$/.exec(sender) ?? [];
  if (number === undefined) throw rapidproError('not a possible number');
  return number;
};

const isRfc3339 = (date: string): boolean =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(date) &&
  v.is(calendarDay, date.slice(0, 10)) &&
  !Number.isNaN(Date.parse(date));

const accepted = (message: string, data: object): Response => Response.json({ message, data: [data] });

/** A 400 in RapidPro's format. */
export const rapidproError = (error: string): HTTPException =>
  httpError(400, error, { message: 'Error', data: [{ type: 'error', error }] });
