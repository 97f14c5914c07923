/** A listener's calls of the API. They continue after errors, with growing pauses. */
import { setTimeout as pause } from 'node:timers/promises';
import * as v from 'valibot';
import { claimedEvent, deliveries } from '../../../shared/api/areas/deliveries.ts';
import { now } from '../../../shared/core/clock.ts';
import { UserError } from '../queries/accounts-admin.ts';
import { issueToken, revokeToken } from '../queries/tokens-admin.ts';

export type ClaimedEvent = v.InferOutput<typeof claimedEvent>;

const settled = deliveries.settleDelivery.responses[200];

/** What became of an event; `lost`, if its claim has run out. */
export type Settlement = v.InferOutput<typeof settled> | { status: 'lost' };

/** What the program returned, in the form of the API. */
export type Outcome = Omit<v.InferInput<typeof deliveries.settleDelivery.body.schema>, 'claim'>;

/** Milliseconds for which a token is valid. A session that takes longer issues another one. */
const TOKEN_MS = 86_400_000;
/** Milliseconds after its end for which its record is kept: "token list" of an account would fill with old sessions. */
const RECORD_MS = 7 * TOKEN_MS;
/** Milliseconds that a call may take, besides its long poll. */
const PATIENCE_MS = 15_000;
/** The first and the longest pause after an error, in milliseconds. */
const PAUSES = { firstMs: 500, longestMs: 30_000 };
/** Milliseconds after which an event cannot be settled any more: a little less than its claim. */
const CLAIM_MS = 55_000;

interface SessionOptions {
  /** The URL of the API. */
  base: string;
  account: string;
  /** Ends the pauses between repeated calls. */
  stop: AbortSignal;
  /** Receives a sentence when calls begin to fail, and when they work again. */
  note: (words: string) => void;
}

/** A session of a listener, with a token of its own that nobody sees. */
export class Session {
  readonly #options: SessionOptions;
  #token: Promise<{ token: string; id: string }> | undefined;
  /** Whether the last call failed. */
  #isFailing = false;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  /**
   * Claims at most `limit` events, and waits for one for so many seconds. A stop does not end the call, because the
   * service would still claim an event, which would then wait until the claim runs out.
   */
  async claim(limit: number, seconds: number): Promise<ClaimedEvent[]> {
    const { stop } = this.#options;
    const query = new URLSearchParams({ limit: String(limit), long_poll: String(seconds) });
    const response = await this.#callUntil(`/v1/deliveries/claim?${query}`, undefined, {
      signal: () => AbortSignal.timeout(seconds * 1_000 + PATIENCE_MS),
      isOver: () => stop.aborted,
      pauseSignal: stop,
    });
    return response?.status === 200 ? v.parse(v.array(claimedEvent), response.body) : [];
  }

  /** Settles an event by what the program returned. */
  async settle(claim: string, outcome: Outcome): Promise<Settlement> {
    const end = performance.now() + CLAIM_MS;
    const response = await this.#callUntil(
      '/v1/deliveries/settle',
      { claim, ...outcome },
      { signal: () => AbortSignal.timeout(PATIENCE_MS), isOver: () => performance.now() > end },
    );
    return response?.status === 200 ? v.parse(settled, response.body) : { status: 'lost' };
  }

  /** Revokes the token of the session. */
  async close(): Promise<void> {
    const issued = await this.#token?.catch(() => undefined);
    this.#token = undefined;
    if (issued) await revokeToken(this.#options.account, issued.id);
  }

  /** Repeats a call until it has a response that is no failure of the service, or it is over. */
  async #callUntil(path: string, body: object | undefined, { signal, isOver, pauseSignal }: Calling) {
    for (let attempt = 0; !isOver(); attempt += 1) {
      const response = await this.#call(path, body, signal());
      if (response.status === 200 || response.status === 204) {
        this.#succeeded();
        return response;
      }
      if (response.status === 404 && codeOf(response.body) === 'claim_not_found') return response;
      if (response.status === 409) throw new UserError(this.#ended);
      if (response.status === 422) throw new Error('The API rejects the request of the listener.');
      if (isOver()) break;
      this.#failed(response);
      // The token has expired, or was revoked.
      if (response.status === 401 || response.status === 403) await this.#renew();
      const wait = response.retryAfter ?? Math.min(PAUSES.firstMs * 2 ** attempt, PAUSES.longestMs);
      await pause(wait, undefined, { ...(pauseSignal && { signal: pauseSignal }) }).catch(() => undefined);
    }
    return undefined;
  }

  get #ended(): string {
    const { account } = this.#options;
    return `The events of "${account}" are not delivered to listeners any more: another command has ended that.`;
  }

  async #call(path: string, body: object | undefined, signal: AbortSignal): Promise<Called> {
    const { base } = this.#options;
    const { token } = await this.#issued();
    try {
      const response = await fetch(`${base}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
        signal,
      });
      const text = await response.text();
      const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN) * 1_000;
      return {
        status: response.status,
        body: parsed(text),
        ...(Number.isFinite(retryAfter) && { retryAfter: Math.min(retryAfter, PAUSES.longestMs) }),
      };
    } catch {
      return { status: 'no response', body: undefined };
    }
  }

  #issued(): Promise<{ token: string; id: string }> {
    const { account } = this.#options;
    this.#token ??= issueToken(account, {
      label: 'operator listen',
      permissions: ['listen'],
      expires: now() + TOKEN_MS,
      forgotten: now() + TOKEN_MS + RECORD_MS,
    }).then(({ token, record }) => ({ token, id: record.id }));
    return this.#token;
  }

  async #renew(): Promise<void> {
    await this.close();
    await this.#issued();
  }

  #failed({ status }: Called): void {
    if (this.#isFailing) return;
    this.#isFailing = true;
    this.#options.note(`The API does not work now (${status}). The listener tries again, with growing pauses.`);
  }

  #succeeded(): void {
    if (!this.#isFailing) return;
    this.#isFailing = false;
    this.#options.note('The API works again.');
  }
}

interface Calling {
  /** Ends one call. */
  signal: () => AbortSignal;
  /** Whether no further call is made. */
  isOver: () => boolean;
  /** Ends the pause between two calls. */
  pauseSignal?: AbortSignal;
}

interface Called {
  status: number | 'no response';
  body: unknown;
  /** Milliseconds. */
  retryAfter?: number;
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const codeOf = (body: unknown): unknown => (typeof body === 'object' && body && 'code' in body ? body.code : undefined);
