/** What the app network got from the service: its calls, and what the phones show of them. */
import * as v from 'valibot';
import { phoneNumber } from '../../../../shared/validation/schemas.ts';
import { type Outcome, time } from '../calls.ts';

/** A message or a request, as it came to a phone. */
export interface PhoneMessage {
  webhook_id: string;
  type: AppEvent['type'];
  data: AppEvent['data'];
  /** When it came first. */
  received: string;
  /** How many calls carried it, whatever they were answered. */
  attempts: number;
  /** Whether the network took it: the phone shows it. */
  taken: boolean;
}

/** A call of the app URL whose signature is good. */
export interface Call {
  webhook_id: string;
  /** None, where the body is no event. */
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

/** The event that a body holds, if it does. */
export const eventIn = (body: Buffer): AppEvent | undefined => {
  try {
    const { success, output } = v.safeParse(appEvent, JSON.parse(body.toString()));
    return success ? output : undefined;
  } catch {
    return undefined;
  }
};

/** What came to a phone, by webhook id, and what it shows, in the order in which it was taken. */
interface Phone {
  came: Map<string, PhoneMessage>;
  shown: Shown[];
}

interface Shown {
  message: PhoneMessage;
  /** Since when the phone shows it. */
  since: string;
}

export class Inbox {
  #calls: Call[] = [];
  #phones = new Map<string, Phone>();

  get calls(): readonly Call[] {
    return this.#calls;
  }

  /** Every number that something was sent to, with how many messages it shows, and how many were never taken. */
  get phones(): { phone: string; messages: number; untaken: number }[] {
    return [...this.#phones].map(([phone, { came, shown }]) => ({
      phone,
      messages: shown.length,
      untaken: came.size - shown.length,
    }));
  }

  /** What a phone shows, in order. */
  shownOn(phone: string): readonly PhoneMessage[] {
    return this.timelineOf(phone).map(({ message }) => message);
  }

  /** The same, with when each came to be shown. */
  timelineOf(phone: string): readonly Shown[] {
    return this.#phones.get(phone)?.shown ?? [];
  }

  /** All that was sent to a phone, in the order in which it came first. */
  sentTo(phone: string): PhoneMessage[] {
    return [...(this.#phones.get(phone)?.came.values() ?? [])];
  }

  /** Enters a call. Whoever answers it enters its status. */
  enter(webhookId: string, event: AppEvent | undefined): Call {
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

  /** Counts an attempt to bring this to its phone. Answers a function that shows it there. */
  arrive(webhookId: string, { type, data }: AppEvent): () => void {
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

  forget(): void {
    this.#calls = [];
    this.#phones = new Map();
  }
}
