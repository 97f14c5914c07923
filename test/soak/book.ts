/**
 * What was accepted, and what came of it: for each message a few numbers, however long the soak is. Faults are found
 * here as things arrive; what is missing is found at the end.
 */
import { idFromKey } from '../../shared/core/ids.ts';
import type { Direction } from '../../shared/messaging/events.ts';

/**
 * Parts of a run: while everything is still cold, before the platform of one account dies, while it never answers, while
 * it takes no connections, and after that.
 */
export const phases = ['cold', 'before', 'silent', 'gone', 'after'] as const;

export type Phase = (typeof phases)[number];

export interface Conversation {
  /** Its place among all. */
  place: number;
  account: string;
  phone: string;
}

export interface Message {
  /** Its place among all. */
  number: number;
  conversation: Conversation;
  direction: Direction;
  phase: Phase;
  /** Its place among those of its conversation in its direction, the first is 1. */
  sequence: number;
  /** The id that the API gave it, or will have given it. */
  id: string | undefined;
  /** Milliseconds since 1970: when it was begun, accepted, first brought to its receiver, and taken there. */
  begun: number;
  accepted: number | undefined;
  came: number | undefined;
  taken: number | undefined;
  /** The id of its deliveries: the same at every one. */
  delivery: string | undefined;
}

export class Book {
  readonly messages: Message[] = [];
  /** How often a receiver got again what it had taken, or had not. */
  readonly repeats = { taken: 0, untaken: 0 };
  readonly faults: string[] = [];
  takenCount = 0;
  phase: Phase = 'cold';
  /** The account whose platform dies. */
  readonly dying: string;
  #underWay = 0;
  /** How many there are, and the last one that was taken, by conversation and direction. */
  readonly #begun = new Map<string, number>();
  readonly #last = new Map<string, number>();
  /** The id of the delivery that told of a state, by message and state. */
  readonly states = new Map<string, string>();

  constructor(dying: string) {
    this.dying = dying;
  }

  /** Enters a message that is about to be sent. */
  begin(conversation: Conversation, direction: Direction): Message {
    const lane = laneOf(conversation, direction);
    const sequence = (this.#begun.get(lane) ?? 0) + 1;
    this.#begun.set(lane, sequence);
    const message: Message = {
      number: this.messages.length,
      conversation,
      direction,
      phase: this.phase,
      sequence,
      id: undefined,
      begun: Date.now(),
      accepted: undefined,
      came: undefined,
      taken: undefined,
      delivery: undefined,
    };
    if (direction === 'platform') message.id = idFromKey('app-network', 'message.received', eventOf(message));
    this.messages.push(message);
    if (this.#isWaitedFor(message)) this.#underWay += 1;
    return message;
  }

  /** Enters that the service has accepted it, under this id. */
  accept(message: Message, id: string | undefined): void {
    message.accepted ??= Date.now();
    if (id === undefined) return;
    if (message.id !== undefined && message.id !== id)
      this.#fault(message, `was answered ${id}, came as ${message.id}`);
    message.id = id;
  }

  /** How many are under way, besides those that wait for a dead platform. */
  get underWay(): number {
    return this.#underWay;
  }

  /** Enters that another part of the run begins. */
  enter(phase: Phase): void {
    this.phase = phase;
    this.#underWay = this.messages.filter((one) => one.taken === undefined && this.#isWaitedFor(one)).length;
  }

  /** Enters that a delivery has come to a receiver, which takes it or does not. */
  arrive(text: unknown, { delivery, direction, phone, account, id, takes }: Arrival): Message | undefined {
    const message = this.messages[Number(/^soak (\d+)$/.exec(String(text))?.[1] ?? -1)];
    if (message === undefined) {
      this.#fault(undefined, `A receiver got what nobody sent: ${text}`);
      return undefined;
    }
    const { conversation } = message;
    if (message.direction !== direction || conversation.phone !== phone || conversation.account !== account) {
      this.#fault(message, `came to ${direction} ${account} ${phone}`);
    }
    message.delivery ??= delivery;
    if (message.delivery !== delivery) this.#fault(message, `came as ${message.delivery} and as ${delivery}`);
    if (id !== undefined) {
      message.id ??= id;
      if (message.id !== id) this.#fault(message, `came as ${id}, was answered ${message.id}`);
    }
    if (message.came !== undefined) this.repeats[message.taken === undefined ? 'untaken' : 'taken'] += 1;
    message.came ??= Date.now();
    if (!takes || message.taken !== undefined) return message;
    message.taken = Date.now();
    this.takenCount += 1;
    if (this.#isWaitedFor(message)) this.#underWay -= 1;
    const lane = laneOf(conversation, direction);
    const last = this.#last.get(lane) ?? 0;
    if (message.sequence !== last + 1) this.#fault(message, `came after number ${last} of its conversation`);
    this.#last.set(lane, message.sequence);
    return message;
  }

  /** Enters that a platform was told of a state. */
  tell(id: string, state: string, delivery: string): void {
    const key = `${id} ${state}`;
    const before = this.states.get(key);
    if (before === undefined) this.states.set(key, delivery);
    else if (before === delivery) this.repeats.taken += 1;
    else this.fault(`The state ${key} was told by ${before} and by ${delivery}.`);
  }

  fault(what: string): void {
    this.faults.push(what);
  }

  #fault(message: Message | undefined, what: string): void {
    this.fault(message === undefined ? what : `${nameOf(message)} ${what}.`);
  }

  #isWaitedFor(message: Message): boolean {
    return !(isFor(this.dying, message) && (this.phase === 'silent' || this.phase === 'gone'));
  }
}

/** Whether a message goes to this account's platform. */
export const isFor = (account: string, { direction, conversation }: Message): boolean =>
  direction === 'platform' && conversation.account === account;

/** A delivery, as a receiver got it. */
interface Arrival {
  delivery: string;
  direction: Direction;
  phone: string;
  account: string;
  /** The message's id, where the delivery says it. */
  id?: string;
  takes: boolean;
}

/** The id of the event by which the app network reports a message. */
export const eventOf = ({ number }: Message): string => `soak-${number}`;

export const nameOf = ({ number, sequence, conversation, direction }: Message): string =>
  `Message ${number} (number ${sequence} of ${conversation.phone} and ${conversation.account}, to the ${direction})`;

const laneOf = ({ place }: Conversation, direction: Direction): string => `${direction} ${place}`;
