/**
 * A queue with the semantics of SQS. A received message is hidden for its visibility timeout, and then delivered again
 * unless it was deleted. In a FIFO queue, the messages of a group are delivered in order. While one of them is hidden,
 * no other message of the group is delivered.
 */
import { randomUUID } from 'node:crypto';
import type { FaultInjection, QueuedMessage } from '../fault-injection.ts';
import type { QueueDefinition } from '../template/definitions.ts';

/** An error response, with SQS's code. */
export class QueueError extends Error {
  override readonly name = 'QueueError';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export interface Draft {
  body: string;
  group: string | undefined;
  deduplicationId: string | undefined;
}

export interface Sent {
  id: string;
  /** In a FIFO queue, an increasing number. */
  sequence: string;
}

export interface Message extends Draft, Sent {
  /** Milliseconds since 1970. */
  sent: number;
  firstReceived: number | undefined;
  /** How often it was received. */
  receives: number;
  /** For a dead letter, the ARN of its original queue. */
  source: string | undefined;
}

/** A message that a receiver is working on. */
export interface Received {
  message: Message;
  /** Identifies this delivery. It is invalid after the message was delivered again. */
  handle: string;
}

interface Stored {
  message: Message;
  /** From when on it can be received, in real milliseconds since 1970. */
  arrives: number;
  /** The handle of its last delivery. */
  handle: string | undefined;
  /** When its receiver's time ends, in real milliseconds since 1970. */
  hiddenUntil: number;
  /** When it returns, in milliseconds since 1970 of the emulator's clock, if its receiver has set a time. */
  returnsAt: number;
  /** Whether fault injection has repeated it. */
  repeated: boolean;
}

export interface QueueSettings {
  definition: QueueDefinition;
  /** Milliseconds that a deduplication id is remembered. */
  memory: number;
  faultInjection: FaultInjection;
  /** The present, in milliseconds since 1970. */
  now: () => number;
  /** The present on the emulator's clock, which may be ahead. */
  clock: () => number;
  /** Milliseconds until a new message can be received. Default: 0. */
  delay?: () => number;
  /** Receives the dead letters. */
  bury: (message: Message) => void;
}

export class Queue {
  #settings: QueueSettings;
  /** Messages by group, oldest first. In a standard queue, each message is a group of its own. */
  readonly #groups = new Map<string, Stored[]>();
  /** Recent messages by deduplication id, oldest first. */
  readonly #taken = new Map<string, { sent: Sent; until: number }>();
  #sequence = 0;
  #receives = 0;

  constructor(settings: QueueSettings) {
    this.#settings = settings;
  }

  get definition(): QueueDefinition {
    return this.#settings.definition;
  }

  /** Replaces the settings. The messages stay. */
  configure(settings: QueueSettings): void {
    this.#settings = settings;
  }

  /**
   * Adds a message, or drops it if a recent one has the same deduplication id.
   *
   * @throws QueueError
   */
  send(draft: Draft): Sent {
    const { definition, memory, faultInjection, clock } = this.#settings;
    check(draft, definition);
    const fault = this.#describe(draft);
    if (faultInjection.refuseMessage?.(fault))
      throw new QueueError('ServiceUnavailable', 'Fault injection rejects it.');

    const scope = definition.deduplication === 'messageGroup' ? draft.group : '';
    const once = JSON.stringify([scope, draft.deduplicationId]);
    for (const [key, { until }] of this.#taken) {
      if (until > clock()) break;
      this.#taken.delete(key);
    }
    const earlier = definition.fifo ? this.#taken.get(once) : undefined;
    if (earlier !== undefined) return earlier.sent;

    const sent = { id: randomUUID(), sequence: this.#nextSequence() };
    if (definition.fifo) this.#taken.set(once, { sent, until: clock() + memory });
    if (!faultInjection.loseMessage?.(fault)) this.#add(draft, sent);
    return sent;
  }

  /** Adds a message of the emulator itself to a standard queue, without fault injection. */
  note(body: string): void {
    this.#add({ body, group: undefined, deduplicationId: undefined }, { id: randomUUID(), sequence: '' });
  }

  /** Adds a dead letter of another queue. */
  inherit(message: Message, source: string): void {
    this.#append({ ...message, sequence: this.#nextSequence(), source }, false);
  }

  /** Returns at most `max` messages, and hides them for `visibility` milliseconds. */
  receive(max: number, visibility = this.definition.visibility): Received[] {
    const now = this.#settings.now();
    const received: Received[] = [];
    for (const [group, messages] of [...this.#groups]) {
      if (received.length === max) break;
      this.#bury(group, messages);
      if (messages.length === 0 || messages.some((stored) => this.#hiddenFor(stored) > 0)) continue;
      for (const stored of messages.slice(0, max - received.length)) {
        if (stored.arrives > now) break;
        const { message } = stored;
        message.receives += 1;
        message.firstReceived ??= this.#settings.clock();
        stored.hiddenUntil = now + visibility;
        stored.returnsAt = 0;
        this.#receives += 1;
        stored.handle = toHandle({ group, id: message.id, receive: this.#receives });
        received.push({ message: { ...message }, handle: stored.handle });
      }
      // Next time, the other groups come first.
      this.#groups.delete(group);
      this.#groups.set(group, messages);
    }
    return received;
  }

  /**
   * Deletes a received message. If it is deleted already, nothing happens.
   *
   * @throws QueueError — the handle is malformed, or in a FIFO queue has expired
   */
  delete(handle: string): void {
    const { group } = fromHandle(handle);
    const stored = this.#find(handle);
    if (stored === undefined) return;
    if (!this.#isHeld(stored, handle)) {
      if (!this.definition.fifo) return;
      throw new QueueError(
        'InvalidParameterValue',
        'ReceiptHandle is invalid. Reason: The receipt handle has expired.',
      );
    }
    const { message, repeated } = stored;
    const left = this.#groups.get(group)?.filter((other) => other !== stored) ?? [];
    if (left.length > 0) this.#groups.set(group, left);
    else this.#groups.delete(group);
    if (!repeated && this.#settings.faultInjection.repeatMessage?.(this.#describe(message))) {
      this.#append({ ...message, receives: 0 }, true);
    }
  }

  /**
   * Hides a message for some milliseconds from now, on the emulator's clock.
   *
   * @throws QueueError — the handle is malformed or has expired
   */
  hide(handle: string, milliseconds: number): void {
    const stored = this.#find(handle);
    if (stored === undefined || !this.#isHeld(stored, handle)) {
      throw new QueueError(
        'InvalidParameterValue',
        'ReceiptHandle is invalid. Reason: Message does not exist or is not available for visibility timeout change.',
      );
    }
    stored.hiddenUntil = 0;
    stored.returnsAt = this.#settings.clock() + milliseconds;
  }

  /** For how many more milliseconds a message is hidden; 0 if the handle has expired. */
  hiddenFor(handle: string): number {
    const stored = this.#find(handle);
    return stored && this.#isHeld(stored, handle) ? this.#hiddenFor(stored) : 0;
  }

  /** When the next message returns that a receiver has hidden, in milliseconds since 1970 on the emulator's clock. */
  get nextReturn(): number | undefined {
    const present = this.#settings.clock();
    const returns = [...this.#groups.values()].flat().map(({ returnsAt }) => returnsAt);
    const later = returns.filter((time) => time > present);
    return later.length === 0 ? undefined : Math.min(...later);
  }

  /** Makes a message visible as if it had not been received. If the handle has expired, nothing happens. */
  takeBack(handle: string): void {
    const stored = this.#find(handle);
    if (stored === undefined || !this.#isHeld(stored, handle)) return;
    stored.hiddenUntil = 0;
    stored.returnsAt = 0;
    stored.message.receives -= 1;
  }

  counts(): { visible: number; inFlight: number } {
    for (const [group, messages] of [...this.#groups]) this.#bury(group, messages);
    const all = [...this.#groups.values()].flat();
    const inFlight = all.filter((stored) => this.#hiddenFor(stored) > 0).length;
    return { visible: all.length - inFlight, inFlight };
  }

  #add(draft: Draft, sent: Sent): void {
    const unread = { firstReceived: undefined, receives: 0, source: undefined };
    this.#append({ ...draft, ...sent, ...unread, sent: this.#settings.clock() }, false);
  }

  #append(message: Message, repeated: boolean): void {
    const group = this.definition.fifo ? (message.group ?? '') : message.id;
    const messages = this.#groups.get(group) ?? [];
    this.#groups.set(group, messages);
    const arrives = this.#settings.now() + (this.#settings.delay?.() ?? 0);
    messages.push({ message, arrives, handle: undefined, hiddenUntil: 0, returnsAt: 0, repeated });
  }

  /** Removes the visible messages of a group that were received too often: they become dead letters. */
  #bury(group: string, messages: Stored[]): void {
    const { definition, bury } = this.#settings;
    const max = definition.deadLetters?.receives ?? Number.POSITIVE_INFINITY;
    const dead = messages.filter((stored) => this.#hiddenFor(stored) <= 0 && stored.message.receives >= max);
    for (const stored of dead) {
      messages.splice(messages.indexOf(stored), 1);
      bury(stored.message);
    }
    if (messages.length === 0) this.#groups.delete(group);
  }

  #find(handle: string): Stored | undefined {
    const { group, id } = fromHandle(handle);
    return this.#groups.get(group)?.find(({ message }) => message.id === id);
  }

  #isHeld(stored: Stored, handle: string): boolean {
    return stored.handle === handle && this.#hiddenFor(stored) > 0;
  }

  /** For how many milliseconds a message is hidden. */
  #hiddenFor({ hiddenUntil, returnsAt }: Stored): number {
    const { now, clock } = this.#settings;
    return Math.max(hiddenUntil - now(), returnsAt - clock());
  }

  #describe({ group, body }: Draft): QueuedMessage {
    return { queue: this.definition.id, group, body };
  }

  #nextSequence(): string {
    this.#sequence += 1;
    return String(this.#sequence).padStart(20, '0');
  }
}

/** Maximum size of a message, in bytes. */
const MAX_BODY = 1024 * 1024;

const check = ({ body, group, deduplicationId }: Draft, { fifo }: QueueDefinition): void => {
  const size = Buffer.byteLength(body);
  if (size === 0) throw new QueueError('MissingParameter', 'The request must contain the parameter MessageBody.');
  if (size > MAX_BODY) throw new QueueError('InvalidParameterValue', `A message has at most ${MAX_BODY} bytes.`);
  if (fifo && !group) {
    throw new QueueError('MissingParameter', 'The request must contain the parameter MessageGroupId.');
  }
  if (fifo && !deduplicationId) {
    throw new QueueError(
      'InvalidParameterValue',
      'The queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly.',
    );
  }
  if (!fifo && (group ?? deduplicationId) !== undefined) {
    throw new QueueError('InvalidParameterValue', 'The emulator has groups and deduplication in FIFO queues only.');
  }
};

interface Receipt {
  group: string;
  /** The message's id. */
  id: string;
  /** Number of the delivery, unique in the queue. */
  receive: number;
}

const toHandle = (receipt: Receipt): string => Buffer.from(JSON.stringify(receipt)).toString('base64url');

const fromHandle = (handle: string): Receipt => {
  try {
    return JSON.parse(Buffer.from(handle, 'base64url').toString());
  } catch {
    throw new QueueError('ReceiptHandleIsInvalid', 'The input receipt handle is invalid.');
  }
};
