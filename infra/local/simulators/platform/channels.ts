/** The channels of a chat platform, by name, and the routes that configure and show them. */
import type * as v from 'valibot';
import { addFaultRoutes } from '../fault-rules.ts';
import { httpError, noContent, parseJson } from '../http.ts';
import { check } from '../schemas.ts';
import { newRoutes, type RequestContext, type Routes } from '../server.ts';
import type { Channel } from './channel.ts';

/** A channel of RapidPro, or a number of Turn. */
interface Member<Settings> {
  channel: Channel<unknown, unknown>;
  settings: Settings;
  /** Without secrets. */
  description: object;
}

interface ChannelsOptions<Schema extends v.GenericSchema, One> {
  /** The name of a member in paths and errors, in the singular: `channel` makes the path `/channels`. */
  noun: string;
  schema: Schema;
  create: (name: string, settings: v.InferOutput<Schema>) => One;
}

export class Channels<Schema extends v.GenericSchema, One extends Member<v.InferOutput<Schema>>> {
  readonly #options: ChannelsOptions<Schema, One>;
  readonly #members = new Map<string, One>();

  constructor(options: ChannelsOptions<Schema, One>) {
    this.#options = options;
  }

  /**
   * Creates a channel, or replaces its settings: its messages stay.
   *
   * @throws HTTPException — 422, the settings are invalid
   */
  set(name: string, input: unknown): One {
    const settings = check(this.#options.schema, input);
    const member = this.#members.get(name) ?? this.#options.create(name, settings);
    member.settings = settings;
    this.#members.set(name, member);
    return member;
  }

  /** The channel in a request's path, if it exists. */
  named({ req }: RequestContext): One | undefined {
    return this.#members.get(req.param('name') ?? '');
  }

  /** The channel in a request's path. @throws HTTPException — 404, it does not exist */
  find(c: RequestContext): One {
    const found = this.named(c);
    if (!found) throw httpError(404, `There is no ${this.#options.noun} ${c.req.param('name')}.`);
    return found;
  }

  /** The channels by name. */
  get channels(): Record<string, One['channel']> {
    return Object.fromEntries([...this.#members].map(([name, { channel }]) => [name, channel]));
  }

  /** New routes that configure and show the channels. */
  get routes(): Routes {
    const routes = newRoutes();
    const all = `/${this.#options.noun}s`;
    const one = `${all}/:name`;
    const channelOf = (c: RequestContext) => this.find(c).channel;
    routes.get(all, (c) => c.json([...this.#members.values()].map(({ description }) => description)));
    routes.put(one, async (c) =>
      c.json(this.set(c.req.param('name') ?? '', parseJson(await c.req.text())).description),
    );
    routes.get(`${one}/received`, (c) => Response.json(channelOf(c).received));
    routes.get(`${one}/statuses`, (c) => Response.json(channelOf(c).statuses));
    routes.get(`${one}/sent`, (c) => Response.json(channelOf(c).sent));
    routes.get(`${one}/calls`, (c) => Response.json(channelOf(c).calls));
    routes.delete(`${one}/calls`, (c) => {
      channelOf(c).clear();
      return noContent();
    });
    addFaultRoutes(routes, one, (c) => channelOf(c).faultRules);
    return routes;
  }
}
