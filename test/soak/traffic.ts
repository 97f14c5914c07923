/**
 * The traffic of a few clients at a limited rate. Businesses send messages to users with idempotency keys. The app
 * network reports messages from users and states of messages. Some requests are repeated, as after a lost response, and
 * must have no further effect.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Direction } from '../../shared/outbox/event.ts';
import { type Book, type Conversation, eventOf, type Message } from './book.ts';
import type { Account } from './world.ts';

interface TrafficSettings {
  baseUrl: string;
  bridgeUrl: string;
  appToken: string;
  accounts: Map<string, Account>;
  conversations: Conversation[];
  messages: number;
  clients: number;
  /** The maximum number of messages per second, and the maximum number in progress. */
  rate: number;
  window: number;
  signal: AbortSignal;
}

/** The number of retries of a failed request, and the pause between them in milliseconds. */
const REPETITION = { times: 30, pause: 500 };
/** One in `twice` messages is sent twice. One in `shown` messages is reported as shown on the phone. */
const SHARE = { twice: 100, shown: 5 };
/** Milliseconds between reports of shown messages, and the maximum number of messages in a report. */
const REPORTS = { every: 250, most: 50 };

export class Traffic {
  readonly #book: Book;
  readonly #settings: TrafficSettings;
  /** The number of responses that caused a retry, by status. Status 0 is a missing response. */
  readonly failures = new Map<number, number>();
  /** The ids of messages that were reported as shown. */
  readonly shown = new Set<string>();
  readonly #toReport: string[] = [];
  #nextSlot = 0;

  constructor(book: Book, settings: TrafficSettings) {
    this.#book = book;
    this.#settings = settings;
  }

  /**
   * Sends all messages, and reports states until all messages have arrived.
   *
   * @param reached - is called before each message with the number of messages so far
   * @param settled - resolves when no message is in progress
   */
  async run(reached: (count: number) => void, settled: () => Promise<void>): Promise<void> {
    const over = new AbortController();
    const sending = async (): Promise<void> => {
      const clients = Array.from({ length: this.#settings.clients }, (_, place) => this.#client(place, reached));
      await Promise.all(clients);
      await settled();
      over.abort();
    };
    await Promise.all([sending(), this.#report(over.signal)]);
  }

  /** Handles a message that a phone has shown. The app network reports some of them. */
  show({ number, id }: Message): void {
    if (number % SHARE.shown !== 0 || id === undefined || this.shown.has(id)) return;
    this.shown.add(id);
    this.#toReport.push(id);
  }

  /** Each client has its own conversations, so that their order of acceptance is known. */
  async #client(place: number, reached: (count: number) => void): Promise<void> {
    const { conversations, clients, messages, window, signal } = this.#settings;
    const own = conversations.filter((conversation) => conversation.place % clients === place);
    for (let visit = 0; ; visit += 1) {
      const turn = visit % own.length;
      const conversation = own[turn];
      if (conversation === undefined) return;
      // Every other conversation sends to the user, the others to the platform. The next round swaps the directions.
      const round = Math.floor(visit / own.length);
      const direction: Direction = (round + turn) % 2 === 0 ? 'app' : 'platform';
      for (let burst = 1 + (visit % 3); burst > 0; burst -= 1) {
        while (this.#book.underWay >= window) await pause(10, undefined, { signal });
        await this.#slot();
        if (this.#book.messages.length >= messages) return;
        reached(this.#book.messages.length);
        await this.#send(this.#book.begin(conversation, direction));
      }
    }
  }

  /** Waits until the rate permits the next message. */
  async #slot(): Promise<void> {
    const { rate, signal } = this.#settings;
    const slot = Math.max(Date.now(), this.#nextSlot);
    this.#nextSlot = slot + 1_000 / rate;
    await pause(Math.max(slot - Date.now(), 0), undefined, { signal });
  }

  async #send(message: Message): Promise<void> {
    const say = message.direction === 'app' ? this.#asBusiness(message) : this.#asUser(message);
    this.#book.accept(message, await say());
    if (message.number % SHARE.twice === 0) this.#book.accept(message, await say());
  }

  #asBusiness({ number, conversation: { account, phone } }: Message): () => Promise<string | undefined> {
    const { baseUrl, accounts } = this.#settings;
    const headers = { authorization: `Bearer ${accounts.get(account)?.token}`, 'idempotency-key': `soak-${number}` };
    const body = { to: phone, recipient_type: 'individual', type: 'text', text: { body: `soak ${number}` } };
    return async () => {
      const { id } = (await this.#post(`${baseUrl}/v1/message`, headers, body)) as { id: string };
      return id;
    };
  }

  #asUser(message: Message): () => Promise<undefined> {
    const { number, conversation } = message;
    const to = this.#settings.accounts.get(conversation.account)?.bot;
    const data = { from: conversation.phone, to, type: 'text', text: { body: `soak ${number}` } };
    return () => this.#tell({ id: eventOf(message), type: 'message.received', data });
  }

  async #tell(events: unknown): Promise<undefined> {
    const { bridgeUrl, appToken } = this.#settings;
    await this.#post(`${bridgeUrl}/v1/app/events`, { authorization: `Bearer ${appToken}` }, events);
  }

  /** Reports shown messages until `over` is aborted, and then the remaining ones. */
  async #report(over: AbortSignal): Promise<void> {
    while (!over.aborted || this.#toReport.length > 0) {
      await pause(REPORTS.every, undefined, { signal: this.#settings.signal });
      const ids = this.#toReport.splice(0, REPORTS.most);
      const events = ids.map((id) => ({
        id: `shown-${id}`,
        type: 'message.state',
        data: { id, state: 'delivered_to_user' },
      }));
      if (events.length > 0) await this.#tell(events);
    }
  }

  /** Posts a request, and retries after a failure or a 5xx response. */
  async #post(url: string, given: Record<string, string>, body: unknown): Promise<unknown> {
    const headers = { 'content-type': 'application/json', ...given };
    const { signal } = this.#settings;
    for (let left = REPETITION.times; ; left -= 1) {
      const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) }).catch((error) => {
        if (left === 0) throw error;
      });
      const answer = await response?.text().catch(() => undefined);
      if (response?.ok && answer !== undefined) return answer === '' ? undefined : JSON.parse(answer);
      const { status = 0 } = response ?? {};
      this.failures.set(status, (this.failures.get(status) ?? 0) + 1);
      if (left === 0 || (status >= 400 && status < 500)) throw new Error(`${url} answered ${status}: ${answer}`);
      await pause(REPETITION.pause, undefined, { signal });
    }
  }
}
