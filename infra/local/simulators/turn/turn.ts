/**
 * A simulated Turn: takes what the service brings to its numbers, answers as it is told, and sends as Turn does, by itself
 * where a number has a bot. A GET of its address tells how to use it.
 */
import type * as v from 'valibot';
import { between } from '../../../../shared/core/clock.ts';
import { Bridge } from '../bridge.ts';
import type { Changes } from '../changes.ts';
import { turnHelp } from '../help.ts';
import { json, parseJson } from '../http.ts';
import { Lines } from '../platform/channels.ts';
import { check } from '../schemas.ts';
import { type Request, type Routes, SimulatedServer } from '../server.ts';
import { numberSettings, refusal, TurnNumber } from './number.ts';
import { outgoing } from './wire.ts';

interface TurnOptions {
  /** A port of the loopback interface; 0 takes any free one. */
  port: number;
  /** Milliseconds that count as a minute: for its rate limit. */
  minute: number;
  /** Rolls a number from 0 to below 1 for answers that only a share of calls gets. */
  random?: () => number;
}

export class Turn {
  /** Its address: what the service knows as Turn's base. */
  readonly url: string;
  readonly #server: SimulatedServer;
  readonly #bridge: Bridge;
  readonly #numbers: Lines<typeof numberSettings, TurnNumber>;

  private constructor(server: SimulatedServer, { minute, random }: Required<Omit<TurnOptions, 'port'>>) {
    const { url, closing } = server;
    const bridge = new Bridge(server);
    this.url = url;
    this.#server = server;
    this.#bridge = bridge;
    this.#numbers = new Lines({
      noun: 'number',
      schema: numberSettings,
      create: (name, settings) => new TurnNumber(name, settings, { bridge, minute, random, closing }),
    });
    server.serve({ ...this.#numbers.routes, ...this.#routes }, turnHelp(url));
  }

  /** @throws StartError — the port cannot be had */
  static async start({ port, minute, random = () => between(0, 1) }: TurnOptions): Promise<Turn> {
    return new Turn(await SimulatedServer.start(port), { minute, random });
  }

  /** Sends to this service from now on. */
  connect({ bridgeUrl }: { bridgeUrl: string }): void {
    this.#bridge.connect(bridgeUrl);
  }

  /**
   * Creates a number, or sets one up anew: its messages stay.
   *
   * @throws HttpRefusal — 422, these are no settings
   */
  addNumber(number: string, settings: v.InferInput<typeof numberSettings>): void {
    this.#numbers.set(number, settings);
  }

  /** What came over each number, and was sent, by the number's name. */
  get lines(): Record<string, TurnNumber['line']> {
    return this.#numbers.lines;
  }

  get changes(): Changes {
    return this.#server.changes;
  }

  /** Ends every call under way, those that hang too. */
  close(): Promise<void> {
    return this.#server.close();
  }

  readonly #routes: Routes = {
    'POST /v1/numbers/{name}/messages': (request) => this.#called(request).receive(request),
    'POST /v1/numbers/{name}/statuses': (request) => this.#called(request).report(request),
    'POST /numbers/{name}/send': async (request) => {
      const number = this.#numbers.find(request);
      return json(200, await number.send(check(outgoing, parseJson(request.body))));
    },
  };

  /** The number that the service calls. */
  #called(request: Request): TurnNumber {
    const number = this.#numbers.named(request);
    if (!number) throw refusal(404, 'Not Found');
    return number;
  }
}
