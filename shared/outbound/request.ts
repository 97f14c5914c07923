/** What a call of a server outside is, and its answer; `post.ts` makes it. */
import type { IncomingHttpHeaders } from 'node:http';

export interface Posting {
  url: string;
  headers: Record<string, string>;
  body: string;
}

/** A server's answer. */
export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  /** The beginning of its body, at most 10,000 characters: less, where the body broke off or took too long. */
  body?: string;
}

/** There was no answer; `why` says it in a word that the log may hold. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
  readonly why:
    | 'timeout'
    | 'no_connection'
    | 'invalid_response'
    | 'address_not_public'
    | 'address_not_https'
    | 'not_set_up';

  constructor(why: NoAnswer['why']) {
    super(why);
    this.why = why;
  }
}

/** Stands where a call would be made of settings that are missing. */
export const notSetUp = (): never => {
  throw new NoAnswer('not_set_up');
};

const posting = (url: string, type: string, body: string, headers: Record<string, string>): Posting => ({
  url,
  headers: { 'content-type': type, 'content-length': String(Buffer.byteLength(body)), ...headers },
  body,
});

/** A post of a JSON document. */
export const jsonPosting = (url: string, document: unknown, headers: Record<string, string> = {}): Posting =>
  posting(url, 'application/json', JSON.stringify(document), headers);

/** A post of a form. */
export const formPosting = (url: string, fields: Record<string, string>): Posting =>
  posting(url, 'application/x-www-form-urlencoded', String(new URLSearchParams(fields)), {});
