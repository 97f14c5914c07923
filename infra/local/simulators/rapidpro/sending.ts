/** How RapidPro sends a message to the service (infra/docs/wire-facts.md, "RapidPro: messages to users"). */
import { pause } from '../../../../shared/core/clock.ts';
import type { Bridge } from '../bridge.ts';
import type { StatusWriter } from './status-writer.ts';

export interface SentMessage {
  id: string;
  to: string;
  text: string;
  quick_replies: string[];
  attachments: string[];
  status: 'queued' | 'wired' | 'sent' | 'delivered' | 'failed' | 'errored';
  /** Its requests to the service, in order. */
  requests: SendingRequest[];
}

/** The result of an attempt to send a message. */
type AttemptStatus = 'wired' | 'errored' | 'failed';

interface Attempt {
  status: AttemptStatus;
  /** Index of the first part that was not accepted. */
  next: number;
  /** Resolves when the status is written. */
  written: Promise<void>;
}

interface SendingRequest {
  /** The text of the part. */
  text: string;
  /** Null if there is no response, or none yet. */
  status: number | null;
  /** The body of the response. */
  body: string;
}

/** The settings of a channel that sending depends on. */
interface SendingSettings {
  token: string;
  max_length: number;
  to_field: 'to_no_plus' | 'to';
  courier: CourierVersion;
}

/** The versions of RapidPro's courier that were observed. */
export const courierVersions = ['8.2.1', '26.3.38'] as const;

type CourierVersion = (typeof courierVersions)[number];

interface SendingOptions {
  bridge: Bridge;
  /** Milliseconds that count as a minute. */
  minute: number;
  /** Timeout of a request, in milliseconds. */
  timeoutMs: number;
  /** Aborted when the simulator closes. */
  closing: AbortSignal;
  statuses: StatusWriter;
}

/** How a version retries a failed attempt: after how many minutes each, and which parts. */
interface RetryPolicy {
  retries: number[];
  resends: 'failed part' | 'all parts';
  retries4xx: boolean;
}

const VERSIONS: Record<CourierVersion, RetryPolicy> = {
  '8.2.1': { retries: [5, 10], resends: 'failed part', retries4xx: true },
  '26.3.38': { retries: [5, 10, 15], resends: 'all parts', retries4xx: false },
};

/** How many bytes before its maximum length a part may end, at a space. */
const MARGIN = 6;

export class Sending {
  readonly #options: SendingOptions;

  constructor(options: SendingOptions) {
    this.#options = options;
  }

  /** @throws HTTPException — 502, the service's URL is not configured yet */
  expectService(): void {
    this.#options.bridge.expectService();
  }

  /** Sends a message, and returns when its status is written. Failed attempts are retried later. */
  async send(message: SentMessage, settings: () => SendingSettings): Promise<void> {
    const attempt = await this.#attempt(message, settings(), { from: 0, isLast: false });
    if (attempt.status === 'errored') void this.#retry(message, settings, attempt.next);
    await attempt.written;
  }

  /** Sends all parts again, because a person selected Resend. */
  async resend(message: SentMessage, settings: SendingSettings): Promise<void> {
    await (await this.#attempt(message, settings, { from: 0, isLast: false })).written;
  }

  /**
   * Sends the parts from an index on, each after the response to the previous part. Then writes the status: `failed` if
   * this is the last attempt and it fails.
   */
  async #attempt(
    message: SentMessage,
    settings: SendingSettings,
    { from, isLast }: { from: number; isLast: boolean },
  ): Promise<Attempt> {
    const { status, next } = await this.#sendParts(message, settings, from);
    const written = this.#options.statuses.write(message, isLast && status === 'errored' ? 'failed' : status);
    return { status, next, written };
  }

  /** Retries a failed attempt, regardless of reports in between: the service must recognise repeats. */
  async #retry(message: SentMessage, settings: () => SendingSettings, failedPart: number): Promise<void> {
    const { minute, closing } = this.#options;
    const { retries, resends } = VERSIONS[settings().courier];
    const closed = new Promise<void>((resolve) => closing.addEventListener('abort', () => resolve(), { once: true }));
    let from = failedPart;
    for (const [place, delay] of retries.entries()) {
      await Promise.race([pause(delay * minute), closed]);
      if (closing.aborted) return;
      const isLast = place === retries.length - 1;
      const attempt = await this.#attempt(message, settings(), { from: resends === 'all parts' ? 0 : from, isLast });
      if (attempt.status !== 'errored') return;
      from = attempt.next;
    }
  }

  async #sendParts(
    message: SentMessage,
    settings: SendingSettings,
    from: number,
  ): Promise<{ status: AttemptStatus; next: number }> {
    const { id, to, text, quick_replies, attachments, requests } = message;
    const { token, max_length, to_field, courier } = settings;
    const { bridge, timeoutMs } = this.#options;
    const headers = { authorization: token, 'content-type': 'application/x-www-form-urlencoded' };
    const parts = split([text, ...attachments].join('\n'), max_length);
    for (const [index, part] of parts.entries()) {
      if (index < from) continue;
      const replies = index === parts.length - 1 ? quick_replies : [];
      const request: SendingRequest = { text: part, status: null, body: '' };
      requests.push(request);
      const form = new URLSearchParams({ id, text: part, [to_field]: to });
      for (const reply of replies) form.append('quick_reply', reply);
      const body = form.toString();
      const response = await bridge.post({ path: '/v1/webhook/rapidpro/', headers, body, timeoutMs });
      if (response === undefined) return { status: 'errored', next: index };
      request.status = response.status;
      request.body = response.body;
      if (response.status >= 500) return { status: 'errored', next: index };
      if (response.status >= 300) return { status: VERSIONS[courier].retries4xx ? 'errored' : 'failed', next: index };
    }
    return { status: 'wired', next: parts.length };
  }
}

/**
 * Splits a text into parts of at most `max` bytes, at a space if one is near the end. Characters are not split: a part
 * may exceed the maximum by the rest of its last character.
 */
const split = (text: string, max: number): string[] => {
  if (Buffer.byteLength(text) <= max) return [text];
  const parts: string[] = [];
  let part = '';
  let size = 0;
  for (const character of text) {
    part += character;
    size += Buffer.byteLength(character);
    if (size >= max || (size > max - MARGIN && character === ' ')) {
      parts.push(part.trim());
      part = '';
      size = 0;
    }
  }
  if (part !== '') parts.push(part.trim());
  return parts;
};
