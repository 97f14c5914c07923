/** What every answer must be, whatever was asked: as the API description says, and silent about everything else. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { type Operation, operationAt } from './description.ts';
import type { Answer, Sent } from './wire.ts';
import type { World } from './world.ts';

const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);

/** Statuses with which API Gateway refuses what is beyond its own limits, or no HTTP that it takes; of any request. */
const LIMITS = [400, 413, 431];
/** Targets of requests that a server of HTTP can tell from noise. */
const TARGET = /^[/*h][!-~]*$/;
/** Statuses with which it refuses requests that no operation is for; a token may come first. */
const NOWHERE = [401, 403, 404];

/** What no answer says: the table's ways, and those of the machine. */
const INTERNALS = [
  /\b(?:pk|sk|gsi\d\w*)\b|\b[A-Z_]{3,}#|\.m?[jt]s\b|\bat .+:\d+|file:\/\//,
  /dynamo|ConditionalCheck|TransactionCancel|Exception|node_modules|business-api-test/i,
];

/** Why an answer is not as it must be; nothing, where it is. */
export const faultOf = (sent: Sent, answer: Answer, world: World): string | undefined => {
  const { status, body } = answer;
  const secret = world.secrets[sent.caller].find((text) => body.includes(text));
  if (secret !== undefined) return `it tells what is another account's: ${secret}`;
  if (Object.values(world.tokens).some((token) => body.includes(token))) return 'it tells a token';
  if (status >= 500) return 'it is our fault';
  const operation = operationAt(sent.host, sent.method, sent.target.split('?', 1)[0] ?? '');
  if (status === 400 && !TARGET.test(sent.target)) return undefined;
  if (status < 400) return operation ? whyNotPromised(operation, answer) : 'nothing is at this address';
  const internal = INTERNALS.map((pattern) => pattern.exec(body)?.[0]).find((found) => found !== undefined);
  if (internal !== undefined) return `it tells how it is made: ${internal}`;
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

/** Whether API Gateway says by itself that the request is refused, and may. */
const isOfGateway = (operation: Operation | undefined, sent: Sent, { status, type, body }: Answer): boolean => {
  const documented = operation?.responses[status]?.content?.['application/json'] !== undefined;
  if (!documented && ![...LIMITS, ...(operation ? [] : NOWHERE)].includes(status)) return false;
  if (sent.method === 'HEAD') return body === '';
  return type === 'application/json' && namesIn(parsed(body)).join() === 'message';
};

const PROBLEM = 'application/problem+json';

const whyNoProblem = (operation: Operation | undefined, sent: Sent, { status, type, body }: Answer) => {
  const content = operation?.responses[status]?.content?.[PROBLEM];
  if (content === undefined) return `${status} with ${type} is not documented`;
  if (sent.method === 'HEAD') return body === '' ? undefined : 'it answers a body to HEAD';
  if (type !== PROBLEM) return `${status} has the type ${type}`;
  const problem = parsed(body);
  const fault = whyNot(content.schema, problem);
  if (fault !== undefined) return fault;
  const { code, status: said } = Object(problem);
  if (!Object.hasOwn(content.examples ?? {}, code)) return `the problem ${code} is not documented`;
  if (said !== status) return `it says that its status is ${said}`;
  const strange = namesIn(problem).find((name) => !Object.hasOwn(content.schema.properties ?? {}, name));
  return strange === undefined ? undefined : `problems have no member ${strange}`;
};

const whyNotPromised = ({ method, responses }: Operation, { status, type = '', body }: Answer): string | undefined => {
  const promised = responses[status];
  if (promised === undefined) return `${status} is not documented`;
  const [content] = Object.entries(promised.content ?? {});
  if (content === undefined || method === 'HEAD') return body === '' ? undefined : 'it has a body';
  const [range, { schema }] = content;
  if (range === '*/*') return type === '' ? 'it has no type' : undefined;
  return type === range ? whyNot(schema, parsed(body)) : `it has the type ${type}`;
};

const whyNot = (schema: object, value: unknown): string | undefined => {
  const validate = ajv.compile(schema);
  return validate(value) ? undefined : `it is off its schema: ${ajv.errorsText(validate.errors)}`;
};
