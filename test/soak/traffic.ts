/**
 * The traffic: a few clients, at a bounded rate. Businesses send to users, with an idempotency key each; the app network
 * reports what users write, and what their phones have shown. Now and then something is said twice, as clients do who
 * had no answer: it must not count twice.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Direction } from '../../shared/messaging/events.ts';
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
  /** Messages a second, and those under way, at most. */
  rate: number;
  window: number;
  signal: AbortSignal;
}

/** A request that fails is repeated so often, after so many milliseconds, as a patient client would. */
const REPETITION = { times: 30, pause: 500 };
/** One message in so many is sent twice; of one in so many it is reported that the phone has shown it. */
const SHARE = { twice: 100, shown: 5 };
/** Milliseconds between reports of what phones have shown, and how many are in one at most. */
const REPORTS = { every: 250, most: 50 };

export class Traffic {
  readonly #book: Book;
  readonly #settings: TrafficSettings;
  /** Answers of the service that had a client try again, by status; 0 where there was none. */
  readonly failures = new Map<number, number>();
  /** Messages of which it was reported that the phone has shown them. */
  readonly shown = new Set<string>();
  readonly #toReport: string[] = [];
  #nextSlot = 0;

  constructor(book: Book, settings: TrafficSettings) {
    this.#book = book;
    this.#settings = settings;
  }

  /**
   * Sends all messages, and reports until all have come.
   *
   * @param reached - is told before each message how many there were
   * @param settled - fulfils when nothing is under way any more
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

  /** A phone has shown a message: the app network will report some of them. */
  show({ number, id }: Message): void {
    if (number % SHARE.shown !== 0 || id === undefined || this.shown.has(id)) return;
    this.shown.add(id);
    this.#toReport.push(id);
  }

  /** One client has conversations of its own, so that it knows the order in which each one was accepted. */
  async #client(place: number, reached: (count: number) => void): Promise<void> {
    const { conversations, clients, messages, window, signal } = this.#settings;
    const own = conversations.filter((conversation) => conversation.place % clients === place);
    for (let visit = 0; ; visit += 1) {
      const turn = visit % own.length;
      const conversation = own[turn];
      if (conversation === undefined) return;
      // Every other user is written to, the others write; in the next round it is the other way round.
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

  /** Waits until the next message may be begun. */
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

  /** Reports what phones have shown until it is over, and then the rest. */
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

  /** Posts, and again while the service cannot take it. */
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
