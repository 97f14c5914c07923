/**
 * The destinations: the app network, and a plain webhook as the platform of each account. They check every signature
 * and store only what the book stores.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import * as v from 'valibot';
import { closeServer, listenOnLoopback } from '../../infra/local/aws/loopback.ts';
import type { Book, Message } from './book.ts';

/** A destination works, accepts connections but never responds, or accepts no connections. */
export type Mood = 'well' | 'silent' | 'gone';

const words = v.object({ body: v.string() });

const sent = v.object({
  type: v.literal('message.send'),
  data: v.object({ id: v.string(), from: v.string(), to: v.string(), type: v.literal('text'), text: words }),
});

const told = v.union([
  v.object({ message: v.object({ from: v.string(), type: v.literal('text'), text: words }) }),
  v.object({ status: v.object({ id: v.string(), state: v.string() }) }),
]);

/** Handles a delivery: its id, its document, and whether the destination accepts it. */
type Take = (delivery: string, document: unknown, takes: boolean) => void;

class DestinationServer {
  #server: Server;
  readonly #webhook: Webhook;
  readonly #take: Take;
  readonly #fault: (what: string) => void;
  #mood: Mood = 'well';
  #port = 0;

  constructor(secret: string, take: Take, fault: (what: string) => void) {
    this.#webhook = new Webhook(secret);
    this.#take = take;
    this.#fault = fault;
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  async open(): Promise<string> {
    const url = await listenOnLoopback(this.#server, this.#port);
    this.#port = Number(new URL(url).port);
    return url;
  }

  /** Changes the behaviour from now on. */
  async turn(mood: Mood): Promise<void> {
    const before = this.#mood;
    this.#mood = mood;
    if (mood === 'gone') await closeServer(this.#server);
    if (mood !== 'well') return;
    // Calls in progress get no response.
    this.#server.closeAllConnections();
    if (before === 'gone') await this.open();
  }

  close(): Promise<void> {
    return closeServer(this.#server);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request).catch(() => undefined);
    if (body === undefined) return;
    const takes = this.#mood === 'well';
    try {
      const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
      const signed = Object.fromEntries(names.map((name) => [name, String(request.headers[name])]));
      this.#take(String(signed['webhook-id']), this.#webhook.verify(body, signed), takes);
    } catch (error) {
      this.#fault(`A destination got something that it does not understand: ${error}`);
    }
    if (takes) response.writeHead(204).end();
  }
}

/** An account and its bot's number. */
interface Owner {
  id: string;
  bot: string;
}

export class Destinations {
  readonly #book: Book;
  readonly #secret: string;
  readonly #platforms = new Map<string, DestinationServer>();
  readonly #app: DestinationServer;
  /** Accounts by bot number. */
  readonly #owners = new Map<string, string>();

  /** @param onShown - is called for each message when a phone first receives it */
  constructor(book: Book, secret: string, onShown: (message: Message) => void) {
    this.#book = book;
    this.#secret = secret;
    const fault = (what: string) => book.fault(what);
    this.#app = new DestinationServer(
      secret,
      (delivery, document, takes) => {
        const { id, from, to: phone, text } = v.parse(sent, document).data;
        const account = this.#owners.get(from) ?? from;
        const message = book.arrive(text.body, { delivery, direction: 'app', phone, account, id, takes });
        if (message?.delivery === delivery && takes) onShown(message);
      },
      fault,
    );
  }

  openApp(): Promise<string> {
    return this.#app.open();
  }

  /** Opens the platform of an account. Returns its URL. */
  openPlatform({ id: account, bot }: Owner): Promise<string> {
    this.#owners.set(bot, account);
    const book = this.#book;
    const platform = new DestinationServer(
      this.#secret,
      (delivery, document, takes) => {
        const what = v.parse(told, document);
        if ('message' in what) {
          const { from: phone, text } = what.message;
          book.arrive(text.body, { delivery, direction: 'platform', phone, account, takes });
        } else if (takes) book.tell(what.status.id, what.status.state, delivery);
      },
      (what) => book.fault(what),
    );
    this.#platforms.set(account, platform);
    return platform.open();
  }

  async turn(account: string, mood: Mood): Promise<void> {
    await this.#platforms.get(account)?.turn(mood);
  }

  async close(): Promise<void> {
    await Promise.all([this.#app, ...this.#platforms.values()].map((destination) => destination.close()));
  }
}
