/** How RapidPro sends a message to the service (protocols, "What RapidPro sends us"). */
import { setTimeout as pause } from 'node:timers/promises';
import type { Bridge } from '../bridge.ts';
import type { StatusWriter } from './status-writer.ts';

export interface SentMessage {
  id: string;
  to: string;
  text: string;
  quick_replies: string[];
  attachments: string[];
  status: 'queued' | 'wired' | 'sent' | 'delivered' | 'failed' | 'errored';
  /** Every request that it made, in order. */
  requests: SendingRequest[];
}

/** What one attempt to send a message leads to. */
type AttemptStatus = 'wired' | 'errored' | 'failed';

interface Attempt {
  status: AttemptStatus;
  /** The first part that was not accepted. */
  next: number;
  /** Settles when the status is in the database. */
  written: Promise<void>;
}

interface SendingRequest {
  /** The part that it brought. */
  text: string;
  /** None, where no answer came, or not yet. */
  status: number | null;
  /** What was answered. */
  body: string;
}

/** What a channel's set-up says about sending. */
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
  /** How long an answer is waited for, in milliseconds. */
  patience: number;
  /** Aborted when the simulator closes. */
  closing: AbortSignal;
  statuses: StatusWriter;
}

/** What a version does after a failed attempt: when it retries, in minutes, and what. */
interface RetryPolicy {
  retries: number[];
  resends: 'failed part' | 'all parts';
  retries4xx: boolean;
}

const VERSIONS: Record<CourierVersion, RetryPolicy> = {
  '8.2.1': { retries: [5, 10], resends: 'failed part', retries4xx: true },
  '26.3.38': { retries: [5, 10, 15], resends: 'all parts', retries4xx: false },
};

/** A part may end at a space so many bytes before its greatest length. */
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

  /** Sends a message, and returns when its status is written. Failed attempts are repeated later. */
  async send(message: SentMessage, settings: () => SendingSettings): Promise<void> {
    const attempt = await this.#attempt(message, settings(), { from: 0, isLast: false });
    if (attempt.status === 'errored') void this.#retry(message, settings, attempt.next);
    await attempt.written;
  }

  /** Sends all parts once more, as a person asks for. */
  async resend(message: SentMessage, settings: SendingSettings): Promise<void> {
    await (await this.#attempt(message, settings, { from: 0, isLast: false })).written;
  }

  /**
   * Sends the parts from one on, each after the response to the one before. Writes the status that follows: `failed`
   * where the last attempt fails.
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

  /** Repeats a failed attempt, whatever the service has reported meanwhile: it has to recognise a repeat. */
  async #retry(message: SentMessage, settings: () => SendingSettings, failedPart: number): Promise<void> {
    const { minute, closing } = this.#options;
    const { retries, resends } = VERSIONS[settings().courier];
    let from = failedPart;
    for (const [place, delay] of retries.entries()) {
      await pause(delay * minute, undefined, { signal: closing }).catch(() => undefined);
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
    const { bridge, patience } = this.#options;
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
      const answer = await bridge.post({ path: '/v1/webhook/rapidpro/', headers, body, patience });
      if (answer === undefined) return { status: 'errored', next: index };
      request.status = answer.status;
      request.body = answer.body;
      if (answer.status >= 500) return { status: 'errored', next: index };
      if (answer.status >= 300) return { status: VERSIONS[courier].retries4xx ? 'errored' : 'failed', next: index };
    }
    return { status: 'wired', next: parts.length };
  }
}

/**
 * The parts of a text: by bytes, none through the middle of a character, and at a space where one is near. Where a
 * character straddles the greatest length, the part has all of it.
 */
const split = (text: string, most: number): string[] => {
  if (Buffer.byteLength(text) <= most) return [text];
  const parts: string[] = [];
  let part = '';
  let size = 0;
  for (const character of text) {
    part += character;
    size += Buffer.byteLength(character);
    if (size >= most || (size > most - MARGIN && character === ' ')) {
      parts.push(part.trim());
      part = '';
      size = 0;
    }
  }
  if (part !== '') parts.push(part.trim());
  return parts;
};
