/**
 * One queue, as SQS keeps it. A message that was received is hidden for a while and comes again unless it is deleted.
 * In a FIFO queue the messages of a group come in order, and none comes while one of its group is hidden.
 */
import { randomUUID } from 'node:crypto';
import type { FaultInjection, QueuedMessage } from '../fault-injection.ts';
import type { QueueDefinition } from '../template/definitions.ts';

/** What a caller gets to hear, with the code that SQS gives it. */
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
  /** In a FIFO queue: numbers that grow. */
  sequence: string;
}

export interface Message extends Draft, Sent {
  /** Milliseconds since 1970. */
  sent: number;
  firstReceived: number | undefined;
  /** How often it was. */
  receives: number;
  /** Arn of the queue that had it before, where this one keeps dead letters. */
  source: string | undefined;
}

/** A message in the hands of a receiver. */
export interface Received {
  message: Message;
  /** Names this receiving of it; it counts no more when the message has come again. */
  handle: string;
}

interface Stored {
  message: Message;
  /** Of its last receiving. */
  handle: string | undefined;
  /** The time that it is hidden until. */
  hiddenUntil: number;
  /** Whether it was repeated by a fault. */
  repeated: boolean;
}

export interface QueueSettings {
  definition: QueueDefinition;
  /** Milliseconds that a deduplication id stays taken for. */
  memory: number;
  faultInjection: FaultInjection;
  /** Tells the time. */
  now: () => number;
  /** Takes messages that were received too often. */
  bury: (message: Message) => void;
}

export class Queue {
  #settings: QueueSettings;
  /** By group, the oldest first. In a standard queue each message is a group of its own. */
  readonly #groups = new Map<string, Stored[]>();
  /** What was sent under a deduplication id, the oldest first. */
  readonly #taken = new Map<string, { sent: Sent; until: number }>();
  #sequence = 0;
  #receives = 0;

  constructor(settings: QueueSettings) {
    this.#settings = settings;
  }

  get definition(): QueueDefinition {
    return this.#settings.definition;
  }

  /** Goes by other settings from now on, and keeps its messages. */
  configure(settings: QueueSettings): void {
    this.#settings = settings;
  }

  /**
   * Takes a message, or swallows it if one with its deduplication id came not long ago.
   *
   * @throws QueueError
   */
  send(draft: Draft): Sent {
    const { definition, memory, faultInjection, now } = this.#settings;
    check(draft, definition);
    const fault = this.#describe(draft);
    if (faultInjection.refuseMessage?.(fault))
      throw new QueueError('ServiceUnavailable', 'A fault of the test refuses it.');

    const scope = definition.deduplication === 'messageGroup' ? draft.group : '';
    const once = JSON.stringify([scope, draft.deduplicationId]);
    for (const [key, { until }] of this.#taken) {
      if (until > now()) break;
      this.#taken.delete(key);
    }
    const earlier = definition.fifo ? this.#taken.get(once) : undefined;
    if (earlier !== undefined) return earlier.sent;

    const sent = { id: randomUUID(), sequence: this.#nextSequence() };
    if (definition.fifo) this.#taken.set(once, { sent, until: now() + memory });
    if (!faultInjection.loseMessage?.(fault)) this.#add(draft, sent);
    return sent;
  }

  /** Takes a message of the platform itself, which no fault befalls, into a standard queue. */
  note(body: string): void {
    this.#add({ body, group: undefined, deduplicationId: undefined }, { id: randomUUID(), sequence: '' });
  }

  /** Takes a message that another queue has given up. */
  inherit(message: Message, source: string): void {
    this.#append({ ...message, sequence: this.#nextSequence(), source }, false);
  }

  /** Hands out at most so many messages, and hides them for so many milliseconds. */
  receive(most: number, visibility = this.definition.visibility): Received[] {
    const now = this.#settings.now();
    const received: Received[] = [];
    for (const [group, messages] of [...this.#groups]) {
      if (received.length === most) break;
      this.#bury(group, messages, now);
      if (messages.length === 0 || messages.some(({ hiddenUntil }) => hiddenUntil > now)) continue;
      for (const stored of messages.slice(0, most - received.length)) {
        const { message } = stored;
        message.receives += 1;
        message.firstReceived ??= now;
        stored.hiddenUntil = now + visibility;
        this.#receives += 1;
        stored.handle = toHandle({ group, id: message.id, receive: this.#receives });
        received.push({ message: { ...message }, handle: stored.handle });
      }
      // The other groups are served first next time.
      this.#groups.delete(group);
      this.#groups.set(group, messages);
    }
    return received;
  }

  /**
   * Deletes a message that is in the hands of its receiver. One that is gone already stays gone.
   *
   * @throws QueueError — the handle is none, or in a FIFO queue counts no more
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
   * Has a message be hidden for so many milliseconds from now.
   *
   * @throws QueueError — the handle is none, or counts no more
   */
  hide(handle: string, milliseconds: number): void {
    const stored = this.#find(handle);
    if (stored === undefined || !this.#isHeld(stored, handle)) {
      throw new QueueError(
        'InvalidParameterValue',
        'ReceiptHandle is invalid. Reason: Message does not exist or is not available for visibility timeout change.',
      );
    }
    stored.hiddenUntil = this.#settings.now() + milliseconds;
  }

  /** How many milliseconds a message is still hidden for; 0 where the handle counts no more. */
  hiddenFor(handle: string): number {
    const stored = this.#find(handle);
    return stored && this.#isHeld(stored, handle) ? stored.hiddenUntil - this.#settings.now() : 0;
  }

  /** Takes a message back as if it had not been received; does nothing where the handle counts no more. */
  takeBack(handle: string): void {
    const stored = this.#find(handle);
    if (stored === undefined || !this.#isHeld(stored, handle)) return;
    stored.hiddenUntil = 0;
    stored.message.receives -= 1;
  }

  counts(): { visible: number; inFlight: number } {
    const now = this.#settings.now();
    for (const [group, messages] of [...this.#groups]) this.#bury(group, messages, now);
    const all = [...this.#groups.values()].flat();
    const inFlight = all.filter(({ hiddenUntil }) => hiddenUntil > now).length;
    return { visible: all.length - inFlight, inFlight };
  }

  #add(draft: Draft, sent: Sent): void {
    const unread = { firstReceived: undefined, receives: 0, source: undefined };
    this.#append({ ...draft, ...sent, ...unread, sent: this.#settings.now() }, false);
  }

  #append(message: Message, repeated: boolean): void {
    const group = this.definition.fifo ? (message.group ?? '') : message.id;
    const messages = this.#groups.get(group) ?? [];
    this.#groups.set(group, messages);
    messages.push({ message, handle: undefined, hiddenUntil: 0, repeated });
  }

  /** Gives up those messages of a group that have come too often and are to come again. */
  #bury(group: string, messages: Stored[], now: number): void {
    const { definition, bury } = this.#settings;
    const most = definition.deadLetters?.receives ?? Number.POSITIVE_INFINITY;
    const dead = messages.filter(({ hiddenUntil, message }) => hiddenUntil <= now && message.receives >= most);
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
    return stored.handle === handle && stored.hiddenUntil > this.#settings.now();
  }

  #describe({ group, body }: Draft): QueuedMessage {
    return { queue: this.definition.id, group, body };
  }

  #nextSequence(): string {
    this.#sequence += 1;
    return String(this.#sequence).padStart(20, '0');
  }
}

/** Most bytes of a message. */
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
  /** Of the message. */
  id: string;
  /** Tells the receives of a queue apart. */
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
