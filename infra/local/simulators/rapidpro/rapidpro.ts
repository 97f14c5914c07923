/**
 * A simulated RapidPro. It receives the service's calls of its channels, responds by its fault rules, and sends
 * messages as RapidPro does: on request, or as a channel's bot. `GET /` returns the help text.
 */
import type * as v from 'valibot';
import { between } from '../../../../shared/core/clock.ts';
import { Bridge } from '../bridge.ts';
import type { Changes } from '../changes.ts';
import { addFaultRoutes, FaultRules } from '../fault-rules.ts';
import { rapidproHelp } from '../help.ts';
import { parseJson } from '../http.ts';
import { Channels } from '../platform/channels.ts';
import { check } from '../schemas.ts';
import { endCall, type RequestContext, type Routes, readCall, type ServedCall, SimulatorServer } from '../server.ts';
import { channelSettings, outgoing, RapidProChannel, rapidproError } from './channel.ts';
import { Sending } from './sending.ts';
import { StatusWriter } from './status-writer.ts';

interface RapidProOptions {
  /** A port of the loopback interface; 0 selects a free one. */
  port: number;
  /** Milliseconds that count as a minute: for its retries. */
  minute: number;
  /** The timeout of its requests in milliseconds. Default: half of `minute`. */
  timeoutMs?: number;
  /** Returns a number from 0 to below 1, for fault rules with a share. */
  random?: () => number;
}

export class RapidPro {
  /** Its base URL: the service posts messages to `/c/ex/{channel}/receive`. */
  readonly url: string;
  /** The rules by which all of its channels respond to the service. */
  readonly faultRules: FaultRules;
  readonly #server: SimulatorServer;
  readonly #bridge: Bridge;
  readonly #channels: Channels<typeof channelSettings, RapidProChannel>;

  private constructor(server: SimulatorServer, { minute, timeoutMs, random }: Required<Omit<RapidProOptions, 'port'>>) {
    const { closing } = server;
    const bridge = new Bridge(server);
    const statuses = new StatusWriter({ minute, closing });
    const sending = new Sending({ bridge, minute, timeoutMs, closing, statuses });
    this.url = server.url;
    const platformRules = new FaultRules(random);
    this.faultRules = platformRules;
    this.#server = server;
    this.#bridge = bridge;
    this.#channels = new Channels({
      noun: 'channel',
      schema: channelSettings,
      create: (name, settings) =>
        new RapidProChannel(name, settings, sending, { random, closing, platformRules, minute, statuses }),
    });
    server.serve(this.#routes, rapidproHelp(server.url));
  }

  /** @throws StartError — the port is not available */
  static async start({
    port,
    minute,
    timeoutMs = minute / 2,
    random = () => between(0, 1),
  }: RapidProOptions): Promise<RapidPro> {
    return new RapidPro(await SimulatorServer.start(port), { minute, timeoutMs, random });
  }

  /** Sets the service that receives messages. */
  connect({ bridgeUrl }: { bridgeUrl: string }): void {
    this.#bridge.connect(bridgeUrl);
  }

  /**
   * Creates a channel, or replaces its settings: its messages stay.
   *
   * @throws HTTPException — 422, the settings are invalid
   */
  addChannel(channel: string, settings: v.InferInput<typeof channelSettings>): void {
    this.#channels.set(channel, settings);
  }

  /** The channels' messages and calls, by the channel's name. */
  get channels(): Record<string, RapidProChannel['channel']> {
    return this.#channels.channels;
  }

  /** Calls the watcher at the end of each call of the service. */
  watchCalls(watcher: (call: ServedCall) => void): void {
    this.#server.watchCalls(/^\/c\/ex\//, watcher);
  }

  get changes(): Changes {
    return this.#server.changes;
  }

  /** Ends every call in progress, including calls that hang. There are no further retries. */
  close(): Promise<void> {
    return this.#server.close();
  }

  get #routes(): Routes {
    const { routes } = this.#channels;
    addFaultRoutes(routes, '', () => this.faultRules);
    routes.post('/c/ex/:name/receive', async (c) => endCall(c, await this.#called(c).receive(await readCall(c))));
    for (const report of ['sent', 'delivered', 'failed'] as const) {
      routes.post(`/c/ex/:name/${report}`, async (c) =>
        endCall(c, await this.#called(c).report(report, await readCall(c))),
      );
    }
    routes.post('/c/ex/:name/stopped', async (c) => endCall(c, await this.#called(c).stop(await readCall(c))));
    routes.get('/channels/:name/stopped', (c) => c.json(this.#channels.find(c).stopped));
    routes.post('/channels/:name/send', async (c) => {
      const channel = this.#channels.find(c);
      return c.json(await channel.send(check(outgoing, parseJson(await c.req.text()))));
    });
    routes.post('/channels/:name/messages/:id/resend', async (c) =>
      c.json(await this.#channels.find(c).resend(c.req.param('id'))),
    );
    return routes;
  }

  /** The channel that the service calls. @throws HTTPException — 400, it does not exist */
  #called(c: RequestContext): RapidProChannel {
    const channel = this.#channels.named(c);
    if (!channel) throw rapidproError('channel not found');
    return channel;
  }
}
