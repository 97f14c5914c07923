/** The service, as simulators call it. */
import { HttpRefusal } from './http.ts';

interface Post {
  path: string;
  headers: Record<string, string>;
  body: string;
  /** How long to wait for the answer, in milliseconds. */
  patience?: number;
}

interface BridgeAnswer {
  status: number;
  type: string | null;
  body: string;
}

/** Longer than the service may take, in milliseconds. */
const PATIENCE = 35_000;

export class Bridge {
  readonly #closing: AbortSignal;
  #url: string | undefined;

  /** @param closing - aborted when the simulator closes */
  constructor(closing: AbortSignal) {
    this.#closing = closing;
  }

  /** Calls this service from now on. */
  connect(url: string): void {
    this.#url = url;
  }

  /** @throws HttpRefusal — 502, nobody has told the service's address yet */
  expectService(): string {
    if (this.#url === undefined) throw new HttpRefusal(502, 'The service is not there yet: the stack is starting.');
    return this.#url;
  }

  /**
   * What the service answers; nothing, where it does not.
   *
   * @throws HttpRefusal — 502, nobody has told its address yet
   */
  async post({ path, headers, body, patience = PATIENCE }: Post): Promise<BridgeAnswer | undefined> {
    const address = `${this.expectService()}${path}`;
    try {
      const signal = AbortSignal.any([this.#closing, AbortSignal.timeout(patience)]);
      const answer = await fetch(address, { method: 'POST', headers, body, redirect: 'manual', signal });
      return { status: answer.status, type: answer.headers.get('content-type'), body: await answer.text() };
    } catch {
      return undefined;
    }
  }
}
