/** How RapidPro sends a message to the service (protocols, "What RapidPro sends us"). */
import { setTimeout as pause } from 'node:timers/promises';
import type { Bridge } from '../bridge.ts';

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
}

interface SendingOptions {
  bridge: Bridge;
  /** Milliseconds that count as a minute. */
  minute: number;
  /** How long an answer is waited for, in milliseconds. */
  patience: number;
  /** Aborted when the simulator closes. */
  closing: AbortSignal;
}

/** How long after a failed attempt there is another, in minutes. */
const RETRIES = [5, 10];

/** A part may end at a space so many bytes before its greatest length. */
const MARGIN = 6;

export class Sending {
  readonly #options: SendingOptions;

  constructor(options: SendingOptions) {
    this.#options = options;
  }

  /** @throws HttpRefusal — 502, nobody has told the service's address yet */
  expectService(): void {
    this.#options.bridge.expectService();
  }

  /** Sends a message. What is left to try after the first attempt is tried later. */
  async send(message: SentMessage, settings: () => SendingSettings): Promise<void> {
    const result = await this.attempt(message, settings());
    if (result === 'errored') void this.#retry(message, settings);
  }

  /** Sends all parts, each after the one before was taken. The message tells the result, unless the service told more. */
  async attempt(message: SentMessage, settings: SendingSettings): Promise<'wired' | 'errored' | 'failed'> {
    const before = message.status;
    const result = await this.#sendParts(message, settings);
    if (message.status === before && before !== 'sent' && before !== 'delivered') message.status = result;
    return result;
  }

  /** Tries again, whatever was reported meanwhile: the service has to know a repeat. */
  async #retry(message: SentMessage, settings: () => SendingSettings): Promise<void> {
    const { minute, closing } = this.#options;
    for (const delay of RETRIES) {
      await pause(delay * minute, undefined, { signal: closing }).catch(() => undefined);
      if (closing.aborted) return;
      if ((await this.attempt(message, settings())) !== 'errored') return;
    }
    if (message.status === 'errored') message.status = 'failed';
  }

  async #sendParts(message: SentMessage, settings: SendingSettings): Promise<'wired' | 'errored' | 'failed'> {
    const { id, to, text, quick_replies, attachments, requests } = message;
    const { token, max_length, to_field } = settings;
    const { bridge, patience } = this.#options;
    const headers = { authorization: token, 'content-type': 'application/x-www-form-urlencoded' };
    const parts = split([text, ...attachments].join('\n'), max_length);
    for (const [index, part] of parts.entries()) {
      const replies = index === parts.length - 1 ? quick_replies : [];
      const request: SendingRequest = { text: part, status: null, body: '' };
      requests.push(request);
      const form = new URLSearchParams({ id, text: part, [to_field]: to });
      for (const reply of replies) form.append('quick_reply', reply);
      const body = form.toString();
      const answer = await bridge.post({ path: '/v1/webhook/rapidpro/', headers, body, patience });
      if (answer === undefined) return 'errored';
      request.status = answer.status;
      request.body = answer.body;
      if (answer.status >= 500) return 'errored';
      if (answer.status >= 300) return 'failed';
    }
    return 'wired';
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
