/** Lambda authorizers as HTTP APIs call them: identity sources, simple responses, caching. */
import type { AuthorizerDefinition } from '../template/definitions.ts';
import type { ThreadClock } from '../time/thread-clock.ts';

/** The decision about a request: it passes with a context, or is rejected with a status. */
export type Verdict = { context: unknown } | { status: 401 | 403 | 500 };

export interface Identity {
  headers: Record<string, string>;
  query: URLSearchParams;
}

interface Cached {
  verdict: Verdict;
  until: number;
}

export class Authorizers {
  readonly #invoke: (functionId: string, event: unknown) => Promise<unknown>;
  readonly #clock: ThreadClock;
  readonly #cache = new Map<string, Cached>();

  constructor(invoke: (functionId: string, event: unknown) => Promise<unknown>, clock: ThreadClock) {
    this.#invoke = invoke;
    this.#clock = clock;
  }

  /**
   * Decides about a request, from the cache or with the authorizer. `event` is its event, without type and identity
   * source.
   */
  async authorize(definition: AuthorizerDefinition, identity: Identity, event: object): Promise<Verdict> {
    const values = definition.identitySources.map((source) => identityFrom(source, identity));
    if (values.some((value) => !value)) return { status: 401 };

    const cacheKey = JSON.stringify([definition.id, ...values]);
    const cached = this.#cache.get(cacheKey);
    if (cached && cached.until > this.#clock.now()) return cached.verdict;

    const verdict = await this.#call(definition, {
      ...event,
      type: 'REQUEST',
      identitySource: values.length > 0 ? values : null,
    });
    const isDecision = !('status' in verdict && verdict.status === 500);
    if (isDecision && definition.cached > 0) this.#keep(cacheKey, verdict, this.#clock.now() + definition.cached);
    return verdict;
  }

  async #call(definition: AuthorizerDefinition, event: object): Promise<Verdict> {
    try {
      const result = await this.#invoke(definition.function, event);
      if (typeof result !== 'object' || result === null || !('isAuthorized' in result)) return { status: 500 };
      if (result.isAuthorized !== true) return { status: 403 };
      return { context: 'context' in result ? result.context : {} };
    } catch {
      return { status: 500 };
    }
  }

  #keep(key: string, verdict: Verdict, until: number): void {
    const present = this.#clock.now();
    for (const [old, { until: end }] of this.#cache) if (end <= present) this.#cache.delete(old);
    this.#cache.set(key, { verdict, until });
  }
}

const identityFrom = (source: string, { headers, query }: Identity): string | undefined => {
  const [, kind, name = ''] = /^\$request\.(header|querystring)\.(.+)$/.exec(source) ?? [];
  if (kind === 'header') return headers[name.toLowerCase()];
  if (kind === 'querystring') return query.get(name) ?? undefined;
  throw new Error(`The emulator does not know the identity source ${source}.`);
};
