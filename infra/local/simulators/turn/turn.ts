/**
 * A simulated Turn. It receives the service's calls of its numbers, responds by its fault rules, and sends messages as
 * Turn does: on request, or as a number's bot. `GET /` returns the help text.
 */
import type * as v from 'valibot';
import { between } from '../../../../shared/core/clock.ts';
import { Bridge } from '../bridge.ts';
import type { Changes } from '../changes.ts';
import { addFaultRoutes, FaultRules } from '../fault-rules.ts';
import { turnHelp } from '../help.ts';
import { parseJson } from '../http.ts';
import { Channels } from '../platform/channels.ts';
import { check } from '../schemas.ts';
import { endCall, type RequestContext, type Routes, readCall, type ServedCall, SimulatorServer } from '../server.ts';
import { numberSettings, TurnNumber, turnError } from './number.ts';
import { outgoing } from './wire.ts';

interface TurnOptions {
  /** A port of the loopback interface; 0 selects a free one. */
  port: number;
  /** Milliseconds that count as a minute: for its rate limit. */
  minute: number;
  /** Returns a number from 0 to below 1, for fault rules with a share. */
  random?: () => number;
}

export class Turn {
  /** Its base URL, which is configured in the service. */
  readonly url: string;
  /** The rules by which all of its numbers respond to the service. */
  readonly faultRules: FaultRules;
  readonly #server: SimulatorServer;
  readonly #bridge: Bridge;
  readonly #numbers: Channels<typeof numberSettings, TurnNumber>;

  private constructor(server: SimulatorServer, { minute, random }: Required<Omit<TurnOptions, 'port'>>) {
    const { url, closing } = server;
    const bridge = new Bridge(server);
    this.url = url;
    const platformRules = new FaultRules(random);
    this.faultRules = platformRules;
    this.#server = server;
    this.#bridge = bridge;
    this.#numbers = new Channels({
      noun: 'number',
      schema: numberSettings,
      create: (name, settings) => new TurnNumber(name, settings, { bridge, minute, random, closing, platformRules }),
    });
    server.serve(this.#routes, turnHelp(url));
  }

  /** @throws StartError — the port is not available */
  static async start({ port, minute, random = () => between(0, 1) }: TurnOptions): Promise<Turn> {
    return new Turn(await SimulatorServer.start(port), { minute, random });
  }

  /** Sets the service that receives messages. */
  connect({ bridgeUrl }: { bridgeUrl: string }): void {
    this.#bridge.connect(bridgeUrl);
  }

  /**
   * Creates a number, or replaces its settings: its messages stay.
   *
   * @throws HTTPException — 422, the settings are invalid
   */
  addNumber(number: string, settings: v.InferInput<typeof numberSettings>): void {
    this.#numbers.set(number, settings);
  }

  /** The numbers' messages and calls, by the number's name. */
  get channels(): Record<string, TurnNumber['channel']> {
    return this.#numbers.channels;
  }

  /** Calls the watcher at the end of each call of the service. */
  watchCalls(watcher: (call: ServedCall) => void): void {
    this.#server.watchCalls(/^\/v1\/numbers\//, watcher);
  }

  get changes(): Changes {
    return this.#server.changes;
  }

  /** Ends every call in progress, including calls that hang. */
  close(): Promise<void> {
    return this.#server.close();
  }

  get #routes(): Routes {
    const { routes } = this.#numbers;
    addFaultRoutes(routes, '', () => this.faultRules);
    routes.post('/v1/numbers/:name/messages', async (c) =>
      endCall(c, await this.#called(c).receive(await readCall(c))),
    );
    routes.post('/v1/numbers/:name/statuses', async (c) => endCall(c, await this.#called(c).report(await readCall(c))));
    routes.post('/numbers/:name/send', async (c) => {
      const number = this.#numbers.find(c);
      return c.json(await number.send(check(outgoing, parseJson(await c.req.text()))));
    });
    return routes;
  }

  /** The number that the service calls. @throws HTTPException — 404, it does not exist */
  #called(c: RequestContext): TurnNumber {
    const number = this.#numbers.named(c);
    if (!number) throw turnError(404, 'Not Found');
    return number;
  }
}
