/** Lambda authorizers as HTTP APIs call them: identity sources, simple answers, caching. */
import type { AuthorizerDefinition } from '../template/definitions.ts';

/** What an authorizer said of a request: let it pass with a context, or the status to refuse it with. */
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
  readonly #cache = new Map<string, Cached>();

  constructor(invoke: (functionId: string, event: unknown) => Promise<unknown>) {
    this.#invoke = invoke;
  }

  /** Asks the authorizer, or its cache. `event` is what the function would get, but for type and identity source. */
  async ask(definition: AuthorizerDefinition, identity: Identity, event: object): Promise<Verdict> {
    const values = definition.identitySources.map((source) => identityFrom(source, identity));
    if (values.some((value) => !value)) return { status: 401 };

    const cacheKey = JSON.stringify([definition.id, ...values]);
    const cached = this.#cache.get(cacheKey);
    if (cached && cached.until > Date.now()) return cached.verdict;

    const verdict = await this.#call(definition, {
      ...event,
      type: 'REQUEST',
      identitySource: values.length > 0 ? values : null,
    });
    const isAnswer = !('status' in verdict && verdict.status === 500);
    if (isAnswer && definition.cached > 0) this.#keep(cacheKey, verdict, Date.now() + definition.cached);
    return verdict;
  }

  async #call(definition: AuthorizerDefinition, event: object): Promise<Verdict> {
    try {
      const answer = await this.#invoke(definition.function, event);
      if (typeof answer !== 'object' || answer === null || !('isAuthorized' in answer)) return { status: 500 };
      if (answer.isAuthorized !== true) return { status: 403 };
      return { context: 'context' in answer ? answer.context : {} };
    } catch {
      return { status: 500 };
    }
  }

  #keep(key: string, verdict: Verdict, until: number): void {
    const present = Date.now();
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
