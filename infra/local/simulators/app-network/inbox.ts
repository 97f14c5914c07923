/** The calls that the app network received from the service, and the messages that phones show. */
import * as v from 'valibot';
import { phoneNumber } from '../../../../shared/validation/schemas.ts';
import { type Outcome, time } from '../calls.ts';

/** A message or user data request for a phone. */
export interface PhoneMessage {
  webhook_id: string;
  type: PhoneEvent['type'];
  data: PhoneEvent['data'];
  /** The time of the first call. */
  received: string;
  /** How many calls contained it, with any response. */
  attempts: number;
  /** Whether the network accepted it, so that the phone shows it. */
  taken: boolean;
}

/** A call of the app URL with a valid signature. */
export interface Call {
  webhook_id: string;
  /** Null if the body is not an event for a phone. */
  phone: string | null;
  type: AppEvent['type'] | null;
  status: Outcome;
  time: string;
}

const to = phoneNumber;
const media = v.looseObject({ url: v.string(), caption: v.exactOptional(v.string()) });
const message = { id: v.string(), from: v.optional(v.string()), to };

const business = v.looseObject({ bot: phoneNumber, name: v.string(), avatar: v.nullable(v.string()) });

/** A business as users see it. */
export type Business = v.InferOutput<typeof business>;

/** The events that the service sends. */
const appEvent = v.variant('type', [
  v.looseObject({ type: v.literal('account.updated'), timestamp: v.string(), data: business }),
  v.looseObject({
    type: v.literal('message.send'),
    timestamp: v.string(),
    data: v.variant('type', [
      v.looseObject({
        ...message,
        type: v.literal('text'),
        text: v.looseObject({ body: v.string() }),
        quick_replies: v.exactOptional(v.array(v.string())),
      }),
      v.looseObject({ ...message, type: v.literal('image'), image: media }),
      v.looseObject({ ...message, type: v.literal('file'), file: media }),
      v.looseObject({ ...message, type: v.literal('audio'), audio: media }),
      v.looseObject({ ...message, type: v.literal('video'), video: media }),
    ]),
  }),
  v.looseObject({
    type: v.literal('user_data.request'),
    timestamp: v.string(),
    data: v.looseObject({
      id: v.string(),
      to,
      business: v.string(),
      reason: v.string(),
      properties: v.array(v.looseObject({ property: v.string() })),
      valid_days: v.exactOptional(v.number()),
    }),
  }),
]);

export type AppEvent = v.InferOutput<typeof appEvent>;

/** An event for a phone. */
export type PhoneEvent = Exclude<AppEvent, { type: 'account.updated' }>;

/** The event in a body; undefined if the body is not an event. */
export const eventIn = (body: Buffer): AppEvent | undefined => {
  try {
    const { success, output } = v.safeParse(appEvent, JSON.parse(body.toString()));
    return success ? output : undefined;
  } catch {
    return undefined;
  }
};

/** The messages for a phone by webhook id, and the messages that it shows in the order of their acceptance. */
interface Phone {
  came: Map<string, PhoneMessage>;
  shown: Shown[];
}

interface Shown {
  message: PhoneMessage;
  /** When it was accepted. */
  since: string;
}

/** A message that was accepted. */
interface Accepted {
  /** The id of the message. */
  id: string;
  phone: string;
}

export class Inbox {
  #calls: Call[] = [];
  #accepted: Accepted[] = [];
  #phones = new Map<string, Phone>();
  readonly #businesses = new Map<string, Business>();

  get calls(): readonly Call[] {
    return this.#calls;
  }

  /** The messages that were accepted, in order. */
  get accepted(): readonly Accepted[] {
    return this.#accepted;
  }

  /** The phones, with how many messages each shows, and how many were never accepted. */
  get phones(): { phone: string; messages: number; untaken: number }[] {
    return [...this.#phones].map(([phone, { came, shown }]) => ({
      phone,
      messages: shown.length,
      untaken: came.size - shown.length,
    }));
  }

  /** The messages that a phone shows, in order. */
  shownOn(phone: string): readonly PhoneMessage[] {
    return this.timelineOf(phone).map(({ message }) => message);
  }

  /** The messages that a phone shows, in order, with the time of their acceptance. */
  timelineOf(phone: string): readonly Shown[] {
    return this.#phones.get(phone)?.shown ?? [];
  }

  /** All messages for a phone, in the order of their first call. */
  sentTo(phone: string): PhoneMessage[] {
    return [...(this.#phones.get(phone)?.came.values() ?? [])];
  }

  /** Adds a call. The caller sets its status when the call ends. */
  addCall(webhookId: string, event: AppEvent | undefined): Call {
    const call: Call = {
      webhook_id: webhookId,
      phone: event === undefined || event.type === 'account.updated' ? null : event.data.to,
      type: event?.type ?? null,
      status: null,
      time: time(),
    };
    this.#calls.push(call);
    return call;
  }

  /** The businesses that the service named, as it did last. */
  get businesses(): Business[] {
    return [...this.#businesses.values()];
  }

  /** Counts an attempt to deliver an event. Returns a function that shows it: a message, on the phone. */
  addAttempt(webhookId: string, event: AppEvent): () => void {
    if (event.type === 'account.updated') return () => void this.#businesses.set(event.data.bot, event.data);
    return this.#addForPhone(webhookId, event);
  }

  #addForPhone(webhookId: string, { type, data }: PhoneEvent): () => void {
    const phone = this.#phones.get(data.to) ?? { came: new Map<string, PhoneMessage>(), shown: [] };
    this.#phones.set(data.to, phone);
    const message = phone.came.get(webhookId) ?? {
      webhook_id: webhookId,
      type,
      data,
      received: time(),
      attempts: 0,
      taken: false,
    };
    phone.came.set(webhookId, message);
    message.attempts += 1;
    return () => {
      if (message.taken) return;
      message.taken = true;
      phone.shown.push({ message, since: time() });
      if (type === 'message.send') this.#accepted.push({ id: data.id, phone: data.to });
    };
  }

  clear(): void {
    this.#calls = [];
    this.#accepted = [];
    this.#phones = new Map();
  }
}
