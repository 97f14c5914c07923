/** A handwritten function for one endpoint, without a framework. */
import * as v from 'valibot';
import { errorInBody, errorInParameter } from '../../../shared/validation/validation-errors.ts';
import {
  answer,
  callerIn,
  endpoint,
  type Handler,
  HEADERS,
  invalidRequest,
  logRequest,
  PERMISSION_REQUIRED,
  PROBLEM_HEADERS,
  problemOf,
} from './work.ts';

const MALFORMED = {
  code: 'malformed_body',
  detail: 'The body is missing, or cannot be read as application/json. Send well-formed JSON.',
} as const;

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

export const handler: Handler = async (event) => {
  const start = Date.now();
  const traceId = event.requestContext.requestId;
  const { account, permissions } = callerIn(event);

  const respond = (statusCode: number, headers: Record<string, string>, document: object) => {
    logRequest(
      event,
      account,
      { status: statusCode, code: 'code' in document ? String(document.code) : undefined },
      start,
    );
    return { statusCode, headers, body: JSON.stringify(document) };
  };

  if (!permissions.includes(endpoint.permission)) {
    return respond(403, PROBLEM_HEADERS, problemOf(PERMISSION_REQUIRED, traceId));
  }
  const text = event.isBase64Encoded ? Buffer.from(event.body ?? '', 'base64').toString() : event.body;
  const given = parse(text ?? '');
  if (given === undefined) return respond(400, PROBLEM_HEADERS, problemOf(MALFORMED, traceId));

  const query = v.safeParse(endpoint.query, event.queryStringParameters ?? {});
  const headers = v.safeParse(endpoint.headers, event.headers);
  const body = v.safeParse(endpoint.body.schema, given);
  if (!query.success || !headers.success || !body.success) {
    const errors = [
      ...(query.issues ?? []).map(errorInParameter),
      ...(headers.issues ?? []).map(errorInParameter),
      ...(body.issues ?? []).map((issue) => errorInBody(issue)),
    ];
    return respond(422, PROBLEM_HEADERS, invalidRequest(errors, traceId));
  }
  return respond(200, HEADERS, answer(account, body.output));
};
