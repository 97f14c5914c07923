/** Requests to destinations, and their responses. `http-client.ts` sends them. */
import type { IncomingHttpHeaders } from 'node:http';

export interface OutboundRequest {
  url: string;
  headers: Record<string, string>;
  body: string;
}

/** The response of a server. */
export interface OutboundResponse {
  status: number;
  headers: IncomingHttpHeaders;
  /** The beginning of its body, at most 10,000 characters; less if the body is incomplete or too slow. */
  body?: string;
}

/** There was no response. The log may contain the `reason`, but not the `cause`, which names hosts. */
export class DeliveryError extends Error {
  override readonly name = 'DeliveryError';
  readonly reason:
    | 'timeout'
    | 'no_connection'
    | 'invalid_response'
    | 'address_not_public'
    | 'address_not_https'
    | 'not_set_up';

  /** @param options.cause - the error of Node.js, which tells apart what `no_connection` stands for */
  constructor(reason: DeliveryError['reason'], options?: ErrorOptions) {
    super(reason, options);
    this.reason = reason;
  }
}

/** Builds no request, because settings are missing. */
export const notSetUp = (): never => {
  throw new DeliveryError('not_set_up');
};

const buildRequest = (url: string, type: string, body: string, headers: Record<string, string>): OutboundRequest => ({
  url,
  headers: { 'content-type': type, 'content-length': String(Buffer.byteLength(body)), ...headers },
  body,
});

/** A POST with a JSON document. */
export const jsonRequest = (url: string, document: unknown, headers: Record<string, string> = {}): OutboundRequest =>
  buildRequest(url, 'application/json', JSON.stringify(document), headers);

/** A POST with a form. */
export const formRequest = (url: string, fields: Record<string, string>): OutboundRequest =>
  buildRequest(url, 'application/x-www-form-urlencoded', String(new URLSearchParams(fields)), {});
