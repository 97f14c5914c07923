/** The HTTP client of the simulators: it posts to the service. */
import type { Changes } from './changes.ts';
import { httpError } from './http.ts';

interface Post {
  path: string;
  headers: Record<string, string>;
  body: string;
  /** Timeout in milliseconds. */
  timeoutMs?: number;
}

export interface BridgeResponse {
  status: number;
  type: string | null;
  body: string;
}

interface Simulator {
  /** Aborted when the simulator closes. */
  closing: AbortSignal;
  /** Notified at the end of each call. */
  changes: Changes;
}

/** Longer than a request to the service may take, in milliseconds. */
const TIMEOUT_MS = 35_000;

export class Bridge {
  readonly #simulator: Simulator;
  #url: string | undefined;

  constructor(simulator: Simulator) {
    this.#simulator = simulator;
  }

  /** Sets the URL of the service. */
  connect(url: string): void {
    this.#url = url;
  }

  /** @throws HTTPException — 502, the service's URL is not configured yet */
  expectService(): string {
    if (this.#url === undefined) throw httpError(502, 'The service is not available yet: the stack is starting.');
    return this.#url;
  }

  /**
   * Posts a body to the service. Returns its response; undefined if there was none.
   *
   * @throws HTTPException — 502, the service's URL is not configured yet
   */
  async post({ path, headers, body, timeoutMs = TIMEOUT_MS }: Post): Promise<BridgeResponse | undefined> {
    const url = `${this.expectService()}${path}`;
    try {
      const signal = AbortSignal.any([this.#simulator.closing, AbortSignal.timeout(timeoutMs)]);
      const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal });
      return { status: response.status, type: response.headers.get('content-type'), body: await response.text() };
    } catch {
      return undefined;
    } finally {
      this.#simulator.changes.notify();
    }
  }
}
