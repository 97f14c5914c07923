/** The service, as simulators call it. */
import type { Changes } from './changes.ts';
import { httpError } from './http.ts';

interface Post {
  path: string;
  headers: Record<string, string>;
  body: string;
  /** How long to wait for the answer, in milliseconds. */
  patience?: number;
}

export interface BridgeAnswer {
  status: number;
  type: string | null;
  body: string;
}

/** What a simulator's calls depend on, and what they tell. */
interface Simulator {
  /** Aborted when it closes. */
  closing: AbortSignal;
  /** Where the end of each call is noted. */
  changes: Changes;
}

/** Longer than the service may take, in milliseconds. */
const PATIENCE = 35_000;

export class Bridge {
  readonly #simulator: Simulator;
  #url: string | undefined;

  constructor(simulator: Simulator) {
    this.#simulator = simulator;
  }

  /** Calls this service from now on. */
  connect(url: string): void {
    this.#url = url;
  }

  /** @throws HTTPException — 502, the service's URL is not configured yet */
  expectService(): string {
    if (this.#url === undefined) throw httpError(502, 'The service is not there yet: the stack is starting.');
    return this.#url;
  }

  /**
   * What the service answers; nothing, where it does not.
   *
   * @throws HTTPException — 502, its URL is not configured yet
   */
  async post({ path, headers, body, patience = PATIENCE }: Post): Promise<BridgeAnswer | undefined> {
    const address = `${this.expectService()}${path}`;
    try {
      const signal = AbortSignal.any([this.#simulator.closing, AbortSignal.timeout(patience)]);
      const answer = await fetch(address, { method: 'POST', headers, body, redirect: 'manual', signal });
      return { status: answer.status, type: answer.headers.get('content-type'), body: await answer.text() };
    } catch {
      return undefined;
    } finally {
      this.#simulator.changes.note();
    }
  }
}
