/**
 * For functions that serve an endpoint with a permission: a request that is always rejected goes through the whole chain of
 * the handler, up to the validation. So V8 compiles the chain with a full processor, while Lambda initializes the function.
 */
import type { Context } from 'aws-lambda';
import { permissions } from '../../../shared/core/permissions.ts';
import type { HttpEvent } from '../../../shared/http/event.ts';

type Handler = (event: HttpEvent, context: Context) => Promise<unknown>;

/** The caller has all permissions and no limit. Each endpoint with a permission rejects a token in the query. */
const EVENT = {
  routeKey: '',
  rawPath: '',
  headers: { 'content-type': 'application/json' },
  queryStringParameters: { access_token: '' },
  requestContext: {
    requestId: '',
    http: {},
    authorizer: { lambda: { account: '', token: '', label: '', permissions } },
  },
  body: '{}',
};

const CONTEXT = { getRemainingTimeInMillis: () => 10_000 };

/** Sends the request to a handler. Its line in the log is not written, because it would count as a request. */
export const warmUp = async (handler: Handler): Promise<void> => {
  const { write } = process.stdout;
  process.stdout.write = () => true;
  try {
    await handler(Object({ ...EVENT }), Object(CONTEXT));
  } catch {
    // The function works without it, so its errors have no effect.
  } finally {
    process.stdout.write = write;
  }
};
