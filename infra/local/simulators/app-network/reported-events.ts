/**
 * The events that the app has reported to the service, and whether they were accepted: the users' side of
 * conversations.
 */
import * as v from 'valibot';
import { textOf } from '../../../../shared/destinations/platform.ts';
import type { ReceivedContent } from '../../../../shared/outbox/event.ts';
import { type Reply, reasonIn } from '../../../operator/local-stack/report.ts';
import { time } from '../calls.ts';

/** An event that the app reports. */
export type ReportedEvent =
  | { type: 'message.received'; data: { from: string; to: string } & ReceivedContent }
  | { type: 'message.state'; data: { id: string; state: ReportedState; reason?: string } }
  | {
      type: 'user.updated';
      data: { phone_number: string; id?: string; panelist?: boolean; properties?: Record<string, unknown> };
    }
  | { type: 'user.removed'; data: { phone_number: string } }
  | { type: 'user.stopped' | 'user.started'; data: { from: string; to: string } }
  | { type: 'user_data.answered'; data: { id: string; answers: Record<string, Answer> } }
  | { type: 'user_data.withdrawn'; data: { id: string; properties: string[] } };

export type ReportedState = 'delivered_to_user' | 'read' | 'delivery_failed';

type Answer = 'approved' | 'denied';

/** What a user decided about a property of a request. */
export interface Decision {
  state: Answer | 'withdrawn';
  /** The time of the answer. */
  answered: string;
}

type Decisions = Record<string, Decision>;

/** A message that a user wrote. */
export interface Written {
  event_id: string;
  to: string;
  /** The text; of a picture its caption and URL, of a place its name and coordinates. */
  text: string;
  /** The URL of a picture. */
  picture: string | null;
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

const profileEntry = v.object({ value: v.string(), source: v.string() });

export class ReportedEvents {
  readonly #written = new Map<string, Map<string, Written>>();
  readonly #states = new Map<string, { state: ReportedState; time: string }[]>();
  readonly #decisions = new Map<string, Decisions>();
  readonly #users = new Map<string, ReportedUser>();
  readonly #stops = new Map<string, Set<string>>();

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

  /** What the user decided about a request, by property. */
  decisionsOn(request: string): Decisions {
    return this.#decisions.get(request) ?? {};
  }

  /** The reported profile of a user; undefined if nothing was reported, or the user was removed. */
  userOf(phone: string): ReportedUser | undefined {
    return this.#users.get(phone);
  }

  /** The numbers of the bots whose businesses a user has stopped. */
  stopsOf(phone: string): string[] {
    return [...(this.#stops.get(phone) ?? [])];
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
    this.#decisions.clear();
  }

  #write(id: string, data: Extract<ReportedEvent, { type: 'message.received' }>['data']): Written {
    const { from, to } = data;
    const messages = this.#written.get(from) ?? new Map<string, Written>();
    this.#written.set(from, messages);
    const message: Written = messages.get(id) ?? {
      event_id: id,
      to,
      text: data.type === 'image' ? (data.image.caption ?? '') : textOf(data),
      picture: data.type === 'image' ? data.image.url : null,
      time: time(),
      outcome: 'sending',
      detail: null,
    };
    if (message.outcome !== 'taken') message.outcome = 'sending';
    messages.set(id, message);
    return message;
  }

  /** The first answer to a property is final, as in the service. */
  #answer(request: string, answers: Record<string, Answer>): void {
    const answered = time();
    const given = Object.entries(answers).map(([name, state]): [string, Decision] => [name, { state, answered }]);
    this.#decisions.set(request, { ...Object.fromEntries(given), ...this.decisionsOn(request) });
  }

  /** Withdraws what was approved. As in the service, a property without an answer is denied. */
  #withdraw(request: string, properties: string[]): void {
    this.#answer(request, Object.fromEntries(properties.map((name) => [name, 'denied'])));
    const changed = Object.entries(this.decisionsOn(request)).map(([name, decision]): [string, Decision] => [
      name,
      decision.state === 'approved' && properties.includes(name) ? { ...decision, state: 'withdrawn' } : decision,
    ]);
    this.#decisions.set(request, Object.fromEntries(changed));
  }

  #apply({ type, data }: ReportedEvent): void {
    if (type === 'message.state') {
      const { id, state } = data;
      const known = this.statesOf(id);
      if (!known.some((one) => one.state === state)) this.#states.set(id, [...known, { state, time: time() }]);
    }
    if (type === 'user_data.answered') this.#answer(data.id, data.answers);
    if (type === 'user_data.withdrawn') this.#withdraw(data.id, data.properties);
    if (type === 'user.removed') {
      this.#users.delete(data.phone_number);
      this.#stops.delete(data.phone_number);
    }
    if (type === 'user.stopped') this.#stops.set(data.from, new Set(this.#stops.get(data.from)).add(data.to));
    if (type === 'user.started') this.#stops.get(data.from)?.delete(data.to);
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
