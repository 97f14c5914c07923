/** The lines of a chat platform, by name: what people tell them, and read of them. */
import type * as v from 'valibot';
import { behaviourRoutes } from '../fault-rules.ts';
import { HttpRefusal, json, parseJson } from '../http.ts';
import { check } from '../schemas.ts';
import type { Request, Routes } from '../server.ts';
import type { Line } from './channel.ts';

/** What a channel and a number have in common. */
interface Member<Settings> {
  line: Line<unknown, unknown>;
  settings: Settings;
  /** Without secrets. */
  description: object;
}

interface LinesOptions<Schema extends v.GenericSchema, One> {
  /** What one is called: its path begins with this and an s. */
  noun: string;
  schema: Schema;
  create: (name: string, settings: v.InferOutput<Schema>) => One;
}

export class Lines<Schema extends v.GenericSchema, One extends Member<v.InferOutput<Schema>>> {
  readonly #options: LinesOptions<Schema, One>;
  readonly #members = new Map<string, One>();

  constructor(options: LinesOptions<Schema, One>) {
    this.#options = options;
  }

  /**
   * Creates a line, or sets one up anew: what came over it stays.
   *
   * @throws HttpRefusal — 422, these are no settings
   */
  set(name: string, input: unknown): One {
    const settings = check(this.#options.schema, input);
    const member = this.#members.get(name) ?? this.#options.create(name, settings);
    member.settings = settings;
    this.#members.set(name, member);
    return member;
  }

  /** The line that a request names, if there is one. */
  named({ parameters: { name = '' } }: Request): One | undefined {
    return this.#members.get(name);
  }

  /** @throws HttpRefusal — 404, there is none of this name */
  find(request: Request): One {
    const found = this.named(request);
    if (!found) throw new HttpRefusal(404, `There is no ${this.#options.noun} ${request.parameters.name}.`);
    return found;
  }

  /** By the names of their members. */
  get lines(): Record<string, One['line']> {
    return Object.fromEntries([...this.#members].map(([name, { line }]) => [name, line]));
  }

  get routes(): Routes {
    const all = `/${this.#options.noun}s`;
    const one = `${all}/{name}`;
    const lineOf = (request: Request) => this.find(request).line;
    return {
      [`GET ${all}`]: () =>
        json(
          200,
          [...this.#members.values()].map(({ description }) => description),
        ),
      [`PUT ${one}`]: ({ parameters: { name = '' }, body }) => json(200, this.set(name, parseJson(body)).description),
      [`GET ${one}/received`]: (request) => json(200, lineOf(request).received),
      [`GET ${one}/statuses`]: (request) => json(200, lineOf(request).statuses),
      [`GET ${one}/sent`]: (request) => json(200, lineOf(request).sent),
      [`GET ${one}/calls`]: (request) => json(200, lineOf(request).calls),
      [`DELETE ${one}/calls`]: (request) => {
        lineOf(request).forget();
        return { status: 204 };
      },
      ...behaviourRoutes(one, (request) => lineOf(request).behaviour),
    };
  }
}
