/**
 * The events that the app has reported to the service, and whether they were accepted: the users' side of
 * conversations.
 */
import * as v from 'valibot';
import { time } from '../calls.ts';

/** An event that the app reports (protocols, "The app network"). */
export type ReportedEvent =
  | { type: 'message.received'; data: { from: string; to: string; type: 'text'; text: { body: string } } }
  | { type: 'message.state'; data: { id: string; state: ReportedState; reason?: string } }
  | { type: 'user.updated'; data: { phone_number: string; panelist?: boolean; properties?: Record<string, unknown> } }
  | { type: 'user.removed'; data: { phone_number: string } }
  | { type: 'user_data.answered'; data: { id: string; answers: Answers } };

type ReportedState = 'delivered_to_user' | 'read' | 'delivery_failed';

type Answers = Record<string, 'approved' | 'denied'>;

/** A message that a user wrote. */
export interface Written {
  event_id: string;
  to: string;
  text: string;
  /** The time of the first attempt. */
  time: string;
  /** The result of the last attempt: in progress, accepted, rejected, or without a response. */
  outcome: 'sending' | 'taken' | 'refused' | 'unanswered';
  /** Why it was not accepted. */
  detail: string | null;
}

export interface ReportedUser {
  panelist: boolean;
  properties: Record<string, { value: string; source: string }>;
}

/** The service's response. */
interface Reply {
  status: number;
  body?: string;
}

const profileEntry = v.object({ value: v.string(), source: v.string() });

export class ReportedEvents {
  readonly #written = new Map<string, Map<string, Written>>();
  readonly #states = new Map<string, { state: ReportedState; time: string }[]>();
  readonly #answers = new Map<string, Answers>();
  readonly #users = new Map<string, ReportedUser>();

  /** Numbers of users who wrote, or about whom something was reported. */
  get phones(): Set<string> {
    return new Set([...this.#written.keys(), ...this.#users.keys()]);
  }

  /** A user's messages, in the order of their first attempts. */
  writtenBy(phone: string): Written[] {
    return [...(this.#written.get(phone)?.values() ?? [])];
  }

  /** The states of a message that the service accepted, in order. */
  statesOf(message: string): readonly { state: ReportedState; time: string }[] {
    return this.#states.get(message) ?? [];
  }

  /** The answers to a request, by property. */
  answersTo(request: string): Answers {
    return this.#answers.get(request) ?? {};
  }

  /** The reported profile of a user; undefined if nothing was reported, or the user was removed. */
  userOf(phone: string): ReportedUser | undefined {
    return this.#users.get(phone);
  }

  /** Adds a user that is registered in the service already. */
  introduce(phone: string, user: ReportedUser): void {
    this.#users.set(phone, user);
  }

  /** Records an event that is being reported. Returns a function that records the response, or that there was none. */
  record(id: string, event: ReportedEvent): (reply: Reply | undefined) => void {
    const written = event.type === 'message.received' ? this.#write(id, event.data) : undefined;
    return (reply) => {
      const accepted = reply !== undefined && reply.status < 300;
      if (accepted) this.#apply(event);
      if (written === undefined || written.outcome === 'taken') return;
      written.outcome = accepted ? 'taken' : reply ? 'refused' : 'unanswered';
      written.detail = accepted ? null : reply ? reasonIn(reply) : 'The service does not respond.';
    };
  }

  /** Deletes conversations. Users' profiles stay. */
  clear(): void {
    this.#written.clear();
    this.#states.clear();
    this.#answers.clear();
  }

  #write(id: string, { from, to, text }: Extract<ReportedEvent, { type: 'message.received' }>['data']): Written {
    const messages = this.#written.get(from) ?? new Map<string, Written>();
    this.#written.set(from, messages);
    const message: Written = messages.get(id) ?? {
      event_id: id,
      to,
      text: text.body,
      time: time(),
      outcome: 'sending',
      detail: null,
    };
    if (message.outcome !== 'taken') message.outcome = 'sending';
    messages.set(id, message);
    return message;
  }

  #apply({ type, data }: ReportedEvent): void {
    if (type === 'message.state') {
      const { id, state } = data;
      const known = this.statesOf(id);
      if (!known.some((one) => one.state === state)) this.#states.set(id, [...known, { state, time: time() }]);
    }
    // The first answer to a property is final, as in the service.
    if (type === 'user_data.answered') this.#answers.set(data.id, { ...data.answers, ...this.answersTo(data.id) });
    if (type === 'user.removed') this.#users.delete(data.phone_number);
    if (type === 'user.updated') {
      const { phone_number, panelist, properties = {} } = data;
      const before = this.userOf(phone_number);
      this.#users.set(phone_number, {
        panelist: panelist ?? before?.panelist ?? false,
        properties: merged(before?.properties ?? {}, properties),
      });
    }
  }
}

/** Properties after a change: given properties are set, or removed if they have no value; the others stay. */
const merged = (before: ReportedUser['properties'], given: Record<string, unknown>): ReportedUser['properties'] => {
  const { ...properties } = before;
  for (const [name, property] of Object.entries(given)) {
    const { success, output } = v.safeParse(profileEntry, property);
    if (success) properties[name] = output;
    else delete properties[name];
  }
  return properties;
};

const problem = v.object({
  detail: v.string(),
  errors: v.optional(v.array(v.object({ pointer: v.optional(v.string()), detail: v.string() })), []),
});

/** The reason in an error response, as a sentence. */
const reasonIn = ({ status, body = '' }: Reply): string => {
  const { success, output } = v.safeParse(v.pipe(v.string(), v.parseJson(), problem), body);
  if (!success) return `The service returned ${status}.`;
  return [output.detail, ...output.errors.map(({ pointer = '', detail }) => `${pointer} ${detail}`.trim())].join(' ');
};
