/**
 * A simulated Turn: takes what the service brings to its numbers, answers as it is told, and sends as Turn does, by itself
 * where a number has a bot. A GET of its address tells how to use it.
 */
import type * as v from 'valibot';
import { between } from '../../../../shared/core/clock.ts';
import { Bridge } from '../bridge.ts';
import type { Changes } from '../changes.ts';
import { turnHelp } from '../help.ts';
import { parseJson } from '../http.ts';
import { Channels } from '../platform/channels.ts';
import { check } from '../schemas.ts';
import { answerWith, type RequestContext, type Routes, readCall, SimulatorServer } from '../server.ts';
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
  readonly #server: SimulatorServer;
  readonly #bridge: Bridge;
  readonly #numbers: Channels<typeof numberSettings, TurnNumber>;

  private constructor(server: SimulatorServer, { minute, random }: Required<Omit<TurnOptions, 'port'>>) {
    const { url, closing } = server;
    const bridge = new Bridge(server);
    this.url = url;
    this.#server = server;
    this.#bridge = bridge;
    this.#numbers = new Channels({
      noun: 'number',
      schema: numberSettings,
      create: (name, settings) => new TurnNumber(name, settings, { bridge, minute, random, closing }),
    });
    server.serve(this.#routes, turnHelp(url));
  }

  /** @throws StartError — the port cannot be had */
  static async start({ port, minute, random = () => between(0, 1) }: TurnOptions): Promise<Turn> {
    return new Turn(await SimulatorServer.start(port), { minute, random });
  }

  /** Sends to this service from now on. */
  connect({ bridgeUrl }: { bridgeUrl: string }): void {
    this.#bridge.connect(bridgeUrl);
  }

  /**
   * Creates a number, or sets one up anew: its messages stay.
   *
   * @throws HTTPException — 422, these are no settings
   */
  addNumber(number: string, settings: v.InferInput<typeof numberSettings>): void {
    this.#numbers.set(number, settings);
  }

  /** What came over each number, and was sent, by the number's name. */
  get channels(): Record<string, TurnNumber['channel']> {
    return this.#numbers.channels;
  }

  get changes(): Changes {
    return this.#server.changes;
  }

  /** Ends every call under way, those that hang too. */
  close(): Promise<void> {
    return this.#server.close();
  }

  get #routes(): Routes {
    const { routes } = this.#numbers;
    routes.post('/v1/numbers/:name/messages', async (c) =>
      answerWith(c, await this.#called(c).receive(await readCall(c))),
    );
    routes.post('/v1/numbers/:name/statuses', async (c) =>
      answerWith(c, await this.#called(c).report(await readCall(c))),
    );
    routes.post('/numbers/:name/send', async (c) => {
      const number = this.#numbers.find(c);
      return c.json(await number.send(check(outgoing, parseJson(await c.req.text()))));
    });
    return routes;
  }

  /** The number that the service calls. */
  #called(c: RequestContext): TurnNumber {
    const number = this.#numbers.named(c);
    if (!number) throw refusal(404, 'Not Found');
    return number;
  }
}
