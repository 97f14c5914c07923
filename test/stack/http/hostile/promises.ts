/** Checks each response: it must follow the API description, and must not reveal anything else. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { elsewhere, type Operation, operationAt, problemSchema } from './description.ts';
import type { Answer, Sent } from './wire.ts';
import type { World } from './world.ts';

const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);

/** Statuses with which API Gateway rejects any request that exceeds its limits or is not valid HTTP. */
const LIMITS = [400, 413, 431];
/** Request targets that an HTTP server can parse. */
const TARGET = /^[/*h][!-~]*$/;
/** Statuses with which API Gateway rejects requests without an operation. It may check the token first. */
const NOWHERE = [401, 403, 404];

/**
 * Internals that no response may contain: keys of the table, paths, stack traces, names of AWS errors. A time after "at"
 * is no stack trace.
 */
const INTERNALS = [
  /\b(?:pk|sk|gsi\d\w*)\b|\b[A-Z_]{3,}#|\.m?[jt]s\b|\bat (?!\d{4}-\d\d-\d\dT).+:\d+|file:\/\//,
  /dynamo|ConditionalCheck|TransactionCancel|Exception|node_modules|business-api-test/i,
];

/** What is wrong with a response; undefined if it is correct. */
export const violationIn = (sent: Sent, answer: Answer, world: World): string | undefined => {
  const { status, body } = answer;
  const secret = world.secrets[sent.caller].find((text) => body.includes(text));
  if (secret !== undefined) return `the response contains another account's data: ${secret}`;
  if (Object.values(world.tokens).some((token) => body.includes(token))) return 'the response contains a token';
  if (status >= 500) return 'the status is 5xx';
  const operation = operationAt(sent.host, sent.method, sent.target.split('?', 1)[0] ?? '');
  if (status === 400 && !TARGET.test(sent.target)) return undefined;
  if (status < 400) return operation ? whyNotPromised(operation, answer) : 'the success is of no documented operation';
  const internal = INTERNALS.map((pattern) => pattern.exec(body)?.[0]).find((found) => found !== undefined);
  if (internal !== undefined) return `the response reveals internals: ${internal}`;
  return isOfGateway(operation, sent, answer) ? undefined : whyNoProblem(operation, sent, answer);
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(Buffer.from(text, 'latin1').toString());
  } catch {
    return undefined;
  }
};

const namesIn = (value: unknown): string[] => (typeof value === 'object' && value !== null ? Object.keys(value) : []);

/** Whether the response is a rejection by API Gateway itself that is allowed here. */
const isOfGateway = (operation: Operation | undefined, sent: Sent, { status, type, body }: Answer): boolean => {
  const documented = operation?.responses[status]?.content?.['application/json'] !== undefined;
  if (!documented && ![...LIMITS, ...(operation ? [] : NOWHERE)].includes(status)) return false;
  if (sent.method === 'HEAD') return body === '';
  return type === 'application/json' && namesIn(parsed(body)).join() === 'message';
};

const PROBLEM = 'application/problem+json';

const whyNoProblem = (operation: Operation | undefined, sent: Sent, { status, type, body }: Answer) => {
  const { [status]: promised } = operation?.responses ?? elsewhere;
  const content = promised?.content?.[PROBLEM];
  if (content === undefined) return `${status} with ${type} is not documented`;
  if (sent.method === 'HEAD') return body === '' ? undefined : 'the response to HEAD has a body';
  if (type !== PROBLEM) return `${status} has the type ${type}`;
  const problem = parsed(body);
  const violation = whyNot(content.schema, problem) ?? whyNot(problemSchema, problem);
  if (violation !== undefined) return violation;
  const { code, status: bodyStatus } = Object(problem);
  if (!Object.hasOwn(content.examples ?? {}, code)) return `the problem ${code} is not documented`;
  if (bodyStatus !== status) return `the body has the status ${bodyStatus}`;
  const strange = namesIn(problem).find((name) => !Object.hasOwn(content.schema.properties ?? {}, name));
  return strange === undefined ? undefined : `problems have no member ${strange}`;
};

const whyNotPromised = ({ method, responses }: Operation, { status, type = '', body }: Answer): string | undefined => {
  const promised = responses[status];
  if (promised === undefined) return `${status} is not documented`;
  const contents = Object.entries(promised.content ?? {});
  if (contents.length === 0 || method === 'HEAD') return body === '' ? undefined : 'the response has a body';
  const [, content] = contents.find(([one, { schema }]) => one === (isBytes(schema) ? mediaType(type) : type)) ?? [];
  if (content === undefined) return `the response has the type ${type}`;
  return isBytes(content.schema) ? undefined : whyNot(content.schema, parsed(body));
};

/** A type without its parameters, as `charset`. */
const mediaType = (type: string): string => type.split(';', 1)[0] ?? '';

const isBytes = (schema: object): boolean => 'format' in schema && schema.format === 'binary';

const whyNot = (schema: object, value: unknown): string | undefined => {
  const validate = ajv.compile(schema);
  return validate(value) ? undefined : `the body does not match its schema: ${ajv.errorsText(validate.errors)}`;
};
