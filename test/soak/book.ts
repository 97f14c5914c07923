/**
 * Records accepted and delivered messages with a few numbers for each message, so that long soaks fit in memory. Errors
 * in deliveries are detected at arrival, and missing messages at the end.
 */
import { idFromKey } from '../../shared/core/ids.ts';
import type { Direction } from '../../shared/outbox/event.ts';

/**
 * The phases of a run: cold start, before the platform of one account fails, while it accepts connections but never
 * responds, while it accepts no connections, and after its recovery.
 */
export const phases = ['cold', 'before', 'silent', 'gone', 'after'] as const;

export type Phase = (typeof phases)[number];

export interface Conversation {
  /** The index among all conversations. */
  place: number;
  account: string;
  phone: string;
}

export interface Message {
  /** The index among all messages. */
  number: number;
  conversation: Conversation;
  direction: Direction;
  phase: Phase;
  /** The sequence number in its conversation and direction, starting at 1. */
  sequence: number;
  /** The id from the API, or the expected id. */
  id: string | undefined;
  /** Milliseconds since 1970: created, accepted by the service, first received by the destination, accepted by it. */
  begun: number;
  accepted: number | undefined;
  came: number | undefined;
  taken: number | undefined;
  /** The id of its deliveries, the same for each attempt. */
  delivery: string | undefined;
}

export class Book {
  readonly messages: Message[] = [];
  /** The number of repeated deliveries, after the destination had accepted the message, and before. */
  readonly repeats = { taken: 0, untaken: 0 };
  readonly faults: string[] = [];
  takenCount = 0;
  phase: Phase = 'cold';
  /** The account with the platform that fails. */
  readonly dying: string;
  #underWay = 0;
  /** The number of messages, and the last accepted sequence number, by conversation and direction. */
  readonly #begun = new Map<string, number>();
  readonly #last = new Map<string, number>();
  /** The delivery id of each reported state, by message and state. */
  readonly states = new Map<string, string>();

  constructor(dying: string) {
    this.dying = dying;
  }

  /** Records a message before it is sent. */
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

  /** Records that the service has accepted a message, with its id. */
  accept(message: Message, id: string | undefined): void {
    message.accepted ??= Date.now();
    if (id === undefined) return;
    if (message.id !== undefined && message.id !== id)
      this.#fault(message, `was answered ${id}, came as ${message.id}`);
    message.id = id;
  }

  /** The number of messages in progress, without those for a failed platform. */
  get underWay(): number {
    return this.#underWay;
  }

  /** Starts another phase. */
  enter(phase: Phase): void {
    this.phase = phase;
    this.#underWay = this.messages.filter((one) => one.taken === undefined && this.#isWaitedFor(one)).length;
  }

  /** Records a delivery that a destination has received, and whether the destination accepts it. */
  arrive(text: unknown, { delivery, direction, phone, account, id, takes }: Arrival): Message | undefined {
    const message = this.messages[Number(/^soak (\d+)$/.exec(String(text))?.[1] ?? -1)];
    if (message === undefined) {
      this.#fault(undefined, `A destination got what nobody sent: ${text}`);
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

  /** Records a status that a platform has received. */
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

/** Whether the destination of a message is this account's platform. */
export const isFor = (account: string, { direction, conversation }: Message): boolean =>
  direction === 'platform' && conversation.account === account;

/** A delivery that a destination received. */
interface Arrival {
  delivery: string;
  direction: Direction;
  phone: string;
  account: string;
  /** The id of the message, if the delivery contains it. */
  id?: string;
  takes: boolean;
}

/** The id of the app network's event for a message. */
export const eventOf = ({ number }: Message): string => `soak-${number}`;

export const nameOf = ({ number, sequence, conversation, direction }: Message): string =>
  `Message ${number} (number ${sequence} of ${conversation.phone} and ${conversation.account}, to the ${direction})`;

const laneOf = ({ place }: Conversation, direction: Direction): string => `${direction} ${place}`;
