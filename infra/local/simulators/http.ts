/** Responses and errors of the simulators, in addition to Hono's. */
import { HTTPException } from 'hono/http-exception';
import type { ContentfulStatusCode, StatusCode } from 'hono/utils/http-status';

/** How a call ends: with a response; with `drop`, which closes the connection; or with `hang`, without an end. */
export type CallEnd = Response | 'drop' | 'hang';

/**
 * An error that ends a request with this status.
 *
 * @param message - a sentence for the client
 * @param body - the response's body; default: an object with the message
 */
export const httpError = (status: ContentfulStatusCode, message: string, body: object = { message }): HTTPException =>
  new HTTPException(status, { message, res: Response.json(body, { status }) });

/** The response to a request that failed with this error. */
export const responseTo = (error: unknown): Response =>
  error instanceof HTTPException ? error.getResponse() : Response.json({ message: String(error) }, { status: 500 });

/** @throws HTTPException — 400, it is not JSON */
export const parseJson = (body: Buffer | string): unknown => {
  try {
    return JSON.parse(body.toString());
  } catch {
    throw httpError(400, 'The body must be JSON.');
  }
};

/** Statuses of responses without a body. */
const BODILESS: StatusCode[] = [204, 205, 304];

/** A response with any status. It has a JSON body if the status permits one. */
export const jsonWith = (status: number, value: unknown): Response =>
  BODILESS.some((one) => one === status) ? new Response(null, { status }) : Response.json(value, { status });

/** A response whose body no cache may store. */
export const freshJson = (value: unknown): Response =>
  Response.json(value, { headers: { 'cache-control': 'no-store' } });

export const noContent = (): Response => new Response(null, { status: 204 });
