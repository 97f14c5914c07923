/** A channel of RapidPro, of the kind "External API": what it answers the service, and what it says to users. */
import type { HTTPException } from 'hono/http-exception';
import * as v from 'valibot';
import { now } from '../../../../shared/core/clock.ts';
import { newId } from '../../../../shared/core/ids.ts';
import { calendarDay } from '../../../../shared/validation/schemas.ts';
import { time } from '../calls.ts';
import { type Answer, httpError } from '../http.ts';
import { botName, Conversations, echo } from '../platform/bot.ts';
import { Channel, type ChannelOptions } from '../platform/channel.ts';
import { fields, filledText, oneOf, phone, text, wholeNumber } from '../schemas.ts';
import type { IncomingCall } from '../server.ts';
import { courierVersions, type Sending, type SentMessage } from './sending.ts';
import type { StatusWriter } from './status-writer.ts';

export const channelSettings = fields({
  /** What the channel brings as its Authorization, bare. */
  token: filledText,
  bot: v.exactOptional(botName, 'none'),
  /** What its messages' ids are: older versions count, newer ones do not. */
  ids: v.exactOptional(oneOf('integer', 'uuid'), 'integer'),
  /** How many bytes of text a request may have. */
  max_length: v.exactOptional(wholeNumber(1), 2048),
  /** What its template calls the user's number. */
  to_field: v.exactOptional(oneOf('to_no_plus', 'to'), 'to_no_plus'),
  /** How long the same text of a user counts as a repeat, in milliseconds: at most so long, at least half of it. */
  guard_ms: v.exactOptional(wholeNumber(0)),
  /** What it does after a failed attempt, and which errors it returns. */
  courier: v.exactOptional(oneOf(...courierVersions), '26.3.38'),
  /** RapidPro does not find a channel that is not active. */
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
  /** As it was given; when it came, where none was. */
  date: string;
}

/** What the service reports of a message, with the letter that RapidPro has for it. */
const LETTERS = { sent: 'S', delivered: 'D', failed: 'F' };

export type Report = keyof typeof LETTERS;

/** How long the same text of a user counts as a repeat, in minutes: 4 s at most. */
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
  /** Numbers, without +, of the contacts who were stopped, in order. */
  readonly stopped: string[] = [];
  readonly #sending: Sending;
  readonly #options: RapidProChannelOptions;
  readonly #messages = new Map<string, SentMessage>();
  /** Messages that came of late, by sender and text. */
  readonly #guard = new Map<string, { uuid: string; came: number }>();
  readonly #conversations = new Conversations();
  // Ids go on from those of a channel before this one: to the service, the same id and text are a repeat.
  #lastId = Math.floor(now() / 1000);

  constructor(name: string, settings: ChannelSettings, sending: Sending, options: RapidProChannelOptions) {
    this.#name = name;
    this.settings = settings;
    this.#sending = sending;
    this.#options = options;
    this.channel = new Channel(options);
  }

  /** How it is set up, without its token. */
  get description(): object {
    const { token: _, ...shown } = this.settings;
    return { channel: this.#name, ...shown };
  }

  /** The service brings a user's message. */
  receive(incoming: IncomingCall): Promise<Answer> {
    return this.channel.answer('receive', incoming, (call) => {
      this.#expectActive();
      const message = messageIn(formIn(incoming));
      return {
        phone: message.from,
        take: () => {
          const repeated = this.#repeated(message);
          call.duplicate = repeated !== undefined;
          const uuid = repeated ?? this.#take(message, incoming);
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

  /** The service reports what became of a message. */
  report(report: Report, incoming: IncomingCall): Promise<Answer> {
    return this.channel.answer(report, incoming, () => {
      this.#expectActive();
      const id = formIn(incoming).get('id') ?? '';
      const whole = this.settings.ids === 'integer';
      if (id === '') throw refusal("field 'id' required");
      if (whole && !/^-?\d{1,15}$/.test(id)) throw refusal('schema: error converting value for "id"');
      return {
        take: () => {
          this.channel.statuses.push({ id, status: report });
          const message = this.#messages.get(id);
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

  /** The service reports that a user has left: their contact is stopped. */
  stop(incoming: IncomingCall): Promise<Answer> {
    return this.channel.answer('stopped', incoming, () => {
      this.#expectActive();
      const sender = formIn(incoming).get('from') ?? '';
      if (sender === '') throw refusal("field 'from' required");
      const from = numberIn(sender);
      return {
        phone: from,
        take: () => {
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

  /** Says something to a user. Answers the message as it is after the first attempt. */
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
   * Sends all parts of a message once more, under the same id.
   *
   * @throws HTTPException — 404, the channel has no such message
   */
  async resend(id: string): Promise<SentMessage> {
    const message = this.#messages.get(id);
    if (!message) throw httpError(404, `The channel has no message ${id}.`);
    await this.#sending.resend(message, this.settings);
    return message;
  }

  /** @throws HTTPException — as for a bad message: the channel is not active, or the database cannot be reached */
  #expectActive(): void {
    const { state, courier } = this.settings;
    if (state === 'inactive') {
      throw refusal(courier === '8.2.1' ? 'channel not found' : `unable to find channel with uuid: ${this.#name}`);
    }
    if (state === 'active') return;
    if (courier === '8.2.1') throw refusal('dial tcp 127.0.0.1:5432: connect: connection refused');
    throw httpError(503, 'The database is down.');
  }

  /** The id of the message that this one repeats. */
  #repeated({ from, text }: ReceivedMessage): string | undefined {
    const last = this.#guard.get(guardKey(from, text));
    const half = (this.settings.guard_ms ?? GUARD * this.#options.minute) / 2;
    // It keeps what came in this interval and in the one before.
    const isRemembered = last && half > 0 && Math.floor(now() / half) - Math.floor(last.came / half) <= 1;
    return isRemembered ? last.uuid : undefined;
  }

  #take(message: ReceivedMessage, { over }: IncomingCall): string {
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

/** A body that is no form is one without fields to RapidPro. */
const formIn = ({ header, body }: IncomingCall): URLSearchParams => {
  const isForm = header('content-type')?.startsWith('application/x-www-form-urlencoded');
  return new URLSearchParams(isForm ? body.toString() : '');
};

const messageIn = (form: URLSearchParams): ReceivedMessage => {
  const sender = form.get('from') ?? form.get('sender') ?? '';
  const date = form.get('date') ?? form.get('time') ?? '';
  if (sender === '') throw refusal("must have one of 'sender' or 'from' set");
  if (date !== '' && !isRfc3339(date)) throw refusal('invalid date format, must be RFC 3339');
  return { from: numberIn(sender), text: form.get('text') ?? '', date: date || time() };
};

/** @throws HTTPException — 400, it is no number */
const numberIn = (sender: string): string => {
  const [, number] = /^\s*\+?(\d{7,15})\s*$/.exec(sender) ?? [];
  if (number === undefined) throw refusal('not a possible number');
  return number;
};

const isRfc3339 = (date: string): boolean =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(date) &&
  v.is(calendarDay, date.slice(0, 10)) &&
  !Number.isNaN(Date.parse(date));

const accepted = (message: string, data: object): Response => Response.json({ message, data: [data] });

/** A refusal as RapidPro writes it. */
export const refusal = (error: string): HTTPException =>
  httpError(400, error, { message: 'Error', data: [{ type: 'error', error }] });
