/** What simulators answer with, beside Hono's own. */
import { HTTPException } from 'hono/http-exception';
import type { ContentfulStatusCode, StatusCode } from 'hono/utils/http-status';

/** What becomes of a call: a response, a connection that is closed without one, or nothing at all. */
export type Answer = Response | 'drop' | 'hang';

/**
 * An error that ends a request with this status.
 *
 * @param message - a sentence for the sender
 * @param body - the response's body; the message alone, where none is given
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

/** A response with any status, as JSON where the status permits a body. */
export const jsonWith = (status: number, value: unknown): Response =>
  BODILESS.some((one) => one === status) ? new Response(null, { status }) : Response.json(value, { status });

export const noContent = (): Response => new Response(null, { status: 204 });
