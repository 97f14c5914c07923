/**
 * A simulated RapidPro: takes what the service brings to its channels, answers as it is told, and sends as RapidPro does,
 * by itself where a channel has a bot. A GET of its address tells how to use it.
 */
import type * as v from 'valibot';
import { between } from '../../../../shared/core/clock.ts';
import { Bridge } from '../bridge.ts';
import type { Changes } from '../changes.ts';
import { rapidproHelp } from '../help.ts';
import { json, parseJson } from '../http.ts';
import { Lines } from '../platform/channels.ts';
import { check } from '../schemas.ts';
import { type Request, type Routes, SimulatedServer } from '../server.ts';
import { Channel, channelSettings, outgoing, refusal } from './channel.ts';
import { Sending } from './sending.ts';
import { StatusWriter } from './status-writer.ts';

interface RapidProOptions {
  /** A port of the loopback interface; 0 takes any free one. */
  port: number;
  /** Milliseconds that count as a minute: for its retries. */
  minute: number;
  /** How long it waits for an answer, in milliseconds; half a minute, where nothing is said. */
  patience?: number;
  /** Rolls a number from 0 to below 1 for answers that only a share of calls gets. */
  random?: () => number;
}

export class RapidPro {
  /** Its address: the service's calls go to `/c/ex/{channel}/receive`. */
  readonly url: string;
  readonly #server: SimulatedServer;
  readonly #bridge: Bridge;
  readonly #channels: Lines<typeof channelSettings, Channel>;

  private constructor(server: SimulatedServer, { minute, patience, random }: Required<Omit<RapidProOptions, 'port'>>) {
    const { closing } = server;
    const bridge = new Bridge(server);
    const statuses = new StatusWriter({ minute, closing });
    const sending = new Sending({ bridge, minute, patience, closing, statuses });
    this.url = server.url;
    this.#server = server;
    this.#bridge = bridge;
    this.#channels = new Lines({
      noun: 'channel',
      schema: channelSettings,
      create: (name, settings) => new Channel(name, settings, sending, { random, closing, minute, statuses }),
    });
    server.serve({ ...this.#channels.routes, ...this.#routes }, rapidproHelp(server.url));
  }

  /** @throws StartError — the port cannot be had */
  static async start({
    port,
    minute,
    patience = minute / 2,
    random = () => between(0, 1),
  }: RapidProOptions): Promise<RapidPro> {
    return new RapidPro(await SimulatedServer.start(port), { minute, patience, random });
  }

  /** Sends to this service from now on. */
  connect({ bridgeUrl }: { bridgeUrl: string }): void {
    this.#bridge.connect(bridgeUrl);
  }

  /**
   * Creates a channel, or sets one up anew: its messages stay.
   *
   * @throws HttpRefusal — 422, these are no settings
   */
  addChannel(channel: string, settings: v.InferInput<typeof channelSettings>): void {
    this.#channels.set(channel, settings);
  }

  /** What came over each channel, and was sent, by the channel's name. */
  get lines(): Record<string, Channel['line']> {
    return this.#channels.lines;
  }

  get changes(): Changes {
    return this.#server.changes;
  }

  /** Ends every call under way, those that hang too, and tries nothing again. */
  close(): Promise<void> {
    return this.#server.close();
  }

  readonly #routes: Routes = {
    'POST /c/ex/{name}/receive': (request) => this.#called(request).receive(request),
    'POST /c/ex/{name}/sent': (request) => this.#called(request).report('sent', request),
    'POST /c/ex/{name}/delivered': (request) => this.#called(request).report('delivered', request),
    'POST /c/ex/{name}/failed': (request) => this.#called(request).report('failed', request),
    'POST /c/ex/{name}/stopped': (request) => this.#called(request).stop(request),
    'GET /channels/{name}/stopped': (request) => json(200, this.#channels.find(request).stopped),
    'POST /channels/{name}/send': async (request) => {
      const channel = this.#channels.find(request);
      return json(200, await channel.send(check(outgoing, parseJson(request.body))));
    },
    'POST /channels/{name}/messages/{id}/resend': async (request) =>
      json(200, await this.#channels.find(request).resend(request.parameters.id ?? '')),
  };

  /** The channel that the service calls. */
  #called(request: Request): Channel {
    const channel = this.#channels.named(request);
    if (!channel) throw refusal('channel not found');
    return channel;
  }
}
