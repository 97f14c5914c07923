/** The calls that the app network received from the service, and the messages that phones show. */
import * as v from 'valibot';
import { phoneNumber } from '../../../../shared/validation/schemas.ts';
import { type Outcome, time } from '../calls.ts';

/** A message or user data request for a phone. */
export interface PhoneMessage {
  webhook_id: string;
  type: AppEvent['type'];
  data: AppEvent['data'];
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
  /** Null if the body is not an event. */
  phone: string | null;
  type: AppEvent['type'] | null;
  status: Outcome;
  time: string;
}

const to = phoneNumber;
const media = v.looseObject({ url: v.string() });
const message = { id: v.string(), from: v.optional(v.string()), to };

/** The events that the service sends (protocols, "The app network"). */
const appEvent = v.variant('type', [
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
    }),
  }),
]);

export type AppEvent = v.InferOutput<typeof appEvent>;

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

export class Inbox {
  #calls: Call[] = [];
  #phones = new Map<string, Phone>();

  get calls(): readonly Call[] {
    return this.#calls;
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
      phone: event?.data.to ?? null,
      type: event?.type ?? null,
      status: null,
      time: time(),
    };
    this.#calls.push(call);
    return call;
  }

  /** Counts an attempt to deliver a message. Returns a function that shows the message on the phone. */
  addAttempt(webhookId: string, { type, data }: AppEvent): () => void {
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
      if (!message.taken) phone.shown.push({ message, since: time() });
      message.taken = true;
    };
  }

  clear(): void {
    this.#calls = [];
    this.#phones = new Map();
  }
}
