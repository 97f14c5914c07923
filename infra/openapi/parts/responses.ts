/** Responses of the API description: their headers, contents and errors. */
import type * as v from 'valibot';
import { type Endpoint, overLimitOf, problemsOf } from '../../../shared/api/endpoint.ts';
import { api, type EndpointName } from '../../../shared/api/index.ts';
import { exampleHosts } from '../../../shared/api/openapi/example-hosts.ts';
import { type ProblemCode, problemCatalogue } from '../../../shared/core/problems.ts';
import { describedPath, docsOf } from '../docs.ts';
import { exclusive } from '../named-schemas.ts';
import { remedies } from '../words.ts';
import { named, type Part, refTo, schemaOf, shownIn } from './components.ts';

const SUCCESS = { 200: 'Done.', 201: 'Created.', 204: 'Done. The response has no body.', 304: 'Your copy is current.' };

/** The header fields of responses. */
export const HEADERS = {
  Link: {
    description: 'The next page, as `<URL>; rel="next"`. The last page has none.',
    schema: { type: 'string' },
  },
  'RateLimit-Policy': {
    description: 'The limit of your account: `q` requests at once, which become available again within `w` seconds.',
    schema: { type: 'string' },
    example: '"account";q=200;w=2',
  },
  RateLimit: {
    description: 'In the next `t` seconds, you can send `r` more requests.',
    schema: { type: 'string' },
    example: '"account";r=163;t=1',
  },
  'Ignored-Fields': {
    description:
      'The fields and parameters of the request that the endpoint does not know, and has ignored: at most 20, separated by commas. Names of nested fields contain dots; other characters than letters, digits and `-_.!~*()` are percent-encoded.',
    schema: { type: 'string' },
    example: 'timezone, text.preview_url',
  },
  'Retry-After': {
    description: 'Seconds to wait. API Gateway itself sends none: wait a few seconds, and longer after each attempt.',
    schema: { type: 'integer', minimum: 1 },
  },
  'Cache-Control': {
    description: 'Whether, and for how long, a cache may keep the response.',
    schema: { type: 'string' },
    example: 'no-store',
  },
  ETag: {
    description: 'Identifies the content. With it in `If-None-Match`, the request returns 304 if your copy is current.',
    schema: { type: 'string', pattern: '^"[0-9a-f]{64}"$' },
  },
  'Accept-Encoding': {
    description: '`identity`, if the body was compressed.',
    schema: { type: 'string' },
  },
};

const headers = (...names: (keyof typeof HEADERS)[]): Part =>
  Object.fromEntries(names.map((name) => [name, refTo('headers', name)]));

const rateLimitHeaders = (): Part => headers('RateLimit-Policy', 'RateLimit');

export const successes = (name: EndpointName, endpoint: Endpoint, method: string): Part => {
  const { responses, query } = endpoint;
  const links = linksFrom(name);
  const described = Object.entries(responses).map(([status, schema]): [string, Part] => {
    const response = {
      description: SUCCESS[Number(status) as keyof typeof SUCCESS],
      headers: {
        ...headers('Cache-Control'),
        ...(name === 'readMedia' && headers('ETag')),
        ...(isPaged(query) && headers('Link')),
        ...(overLimitOf(endpoint) !== undefined && rateLimitHeaders()),
        ...(!endpoint.ignoresUnknown && headers('Ignored-Fields')),
      },
      ...(Object.keys(links).length > 0 && { links }),
    };
    return [
      status,
      schema === null || method === 'HEAD' ? response : { ...response, content: contentOf(name, status, schema) },
    ];
  });
  return Object.fromEntries(described);
};

const contentOf = (name: EndpointName, status: string, schema: v.GenericSchema): Part => {
  const described = schemaOf(schema);
  const { anyOf: alternatives = [described] } = described;
  const isFile = (one: object | boolean) => typeof one === 'object' && 'format' in one && one.format === 'binary';
  const file = alternatives.find(isFile);
  const json = file === undefined ? described : alternatives.find((one) => !isFile(one));
  return {
    ...(typeof json === 'object' && {
      'application/json': {
        schema: named.at(`${name}.${status}`, exclusive(json)),
        ...shownIn(name, ({ answer }) => answer),
      },
    }),
    ...(file && Object.fromEntries((docsOf(name).fileTypes ?? []).map((type) => [type, { schema: file }]))),
  };
};

/** The links in the form of OpenAPI, by the ids of the other operations. */
const linksFrom = (name: EndpointName): Record<string, object> =>
  Object.fromEntries(
    Object.entries(docsOf(name).links ?? {}).map(([to, [index, description]]) => {
      const operationId = to as EndpointName;
      const [, parameter = ''] = /\{(\w+)\}/.exec(describedPath(operationId, api[operationId].routes[0].path)) ?? [];
      return [to, { operationId, parameters: { [parameter]: `$response.body#${index}` }, description }];
    }),
  );

const isPaged = (query: v.GenericSchema | undefined): boolean =>
  query !== undefined && 'cursor' in (schemaOf(query).properties ?? {});

/** API Gateway's own error responses, by status. */
const gatewayErrors: Record<number, string> = {
  401: 'The `Authorization` header is missing.',
  403: 'The token is not valid.',
  413: 'The request exceeds the limits of API Gateway.',
  429: 'Without a problem document: all accounts together send too many requests.',
  431: 'The headers are too long.',
  500: 'A function failed before it could return a problem.',
  503: 'The function took too long.',
};

/** The statuses of API Gateway's own error responses for an endpoint. */
const gatewayStatuses = ({ token, body }: Endpoint): number[] => [
  ...(token === 'header' ? [401] : []),
  ...(token === 'none' ? [] : [403]),
  ...(body ? [413] : []),
  ...[429, 431, 500, 503],
];

/** Error responses by status: problems, and API Gateway's own. */
export const failures = (endpoint: Endpoint): Part => {
  const codes = Map.groupBy(problemsOf(endpoint), (code): number => problemCatalogue[code].status);
  const byGateway = gatewayStatuses(endpoint);
  const statuses = [...new Set([...codes.keys(), ...byGateway])].sort((a, b) => a - b);
  return Object.fromEntries(
    statuses.map((status) => [status, describeFailure(status, codes.get(status) ?? [], byGateway.includes(status))]),
  );
};

/** The error responses with several codes, by their names. Many endpoints share one. */
export const severalProblems = new Map<string, Part>();

const describeFailure = (status: number, codes: ProblemCode[], isByGateway: boolean): Part => {
  const [only] = codes;
  if (only === undefined) return refTo('responses', gatewayName(status));
  // Nearly all endpoints have this one, so it describes the response of API Gateway, too.
  if (codes.length === 1 && (!isByGateway || only === 'rate_limited')) return refTo('responses', only);
  const gateway = isByGateway ? [gatewayErrors[status]] : [];
  const name = [...codes, ...(isByGateway ? ['gateway'] : [])].join('_or_');
  severalProblems.set(name, {
    description: [...codes.map((code) => `\`${code}\`: ${remedies[code]}.`), ...gateway].join(' '),
    ...errorHeaders(codes),
    content: errorContent(codes, isByGateway),
    'x-problems': codes.map((code) => refTo('responses', code)),
  });
  return refTo('responses', name);
};

/**
 * The content of an error response. There is one schema for all content types of a status: generators make one type of
 * an error of it.
 */
const errorContent = (codes: ProblemCode[], isByGateway: boolean): Part => {
  const schema = refTo('schemas', isByGateway ? 'ErrorDocument' : 'Problem');
  return {
    'application/problem+json': {
      schema,
      examples: Object.fromEntries(codes.map((code) => [code, refTo('examples', code)])),
    },
    ...(isByGateway && { 'application/json': { schema } }),
  };
};

const errorHeaders = (codes: ProblemCode[]): Part => {
  const statuses = codes.map((code): number => problemCatalogue[code].status);
  const described = {
    ...(statuses.some((status) => [429, 503].includes(status)) && headers('Retry-After')),
    ...(codes.includes('rate_limited') && rateLimitHeaders()),
    ...(codes.includes('unsupported_media_type') && headers('Accept-Encoding')),
  };
  return Object.keys(described).length > 0 ? { headers: described } : {};
};

const gatewayName = (status: string | number): string => `gateway_${status}`;

/** The error responses of API Gateway itself, of the statuses that some endpoint does not return too. */
export const describeGatewayErrors = (): Record<string, Part> => {
  const alone = Object.values(api).flatMap((endpoint: Endpoint) => {
    const statuses = problemsOf(endpoint).map((code): number => problemCatalogue[code].status);
    return gatewayStatuses(endpoint).filter((status) => !statuses.includes(status));
  });
  return Object.fromEntries(
    Object.entries(gatewayErrors)
      .filter(([status]) => alone.includes(Number(status)))
      .map(([status, description]) => [
        gatewayName(status),
        { description, content: { 'application/json': { schema: refTo('schemas', 'GatewayMessage') } } },
      ]),
  );
};

export const byCode = (describe: (code: ProblemCode) => Part): Record<string, Part> =>
  Object.fromEntries((Object.keys(problemCatalogue) as ProblemCode[]).map((code) => [code, describe(code)]));

export const describeProblem = (code: ProblemCode): Part => ({
  description: `${problemCatalogue[code].title}. What to do: ${remedies[code]}.${code === 'rate_limited' ? ` ${gatewayErrors[429]}` : ''}`,
  ...errorHeaders([code]),
  content: errorContent([code], code === 'rate_limited'),
});

const EXAMPLE_ERRORS: Partial<Record<ProblemCode, Part[]>> = {
  invalid_request: [{ pointer: '#/options/1', detail: 'must be a string, not a number' }],
  events_refused: [{ pointer: '#/1/data/id', detail: 'is the id of no message that was sent to a user' }],
};

export const problemExample = (code: ProblemCode): Part => ({
  type: `${exampleHosts.base}/v1/openapi.json#/components/responses/${code}`,
  ...problemCatalogue[code],
  code,
  detail: `What to do: ${remedies[code]}.`,
  ...(EXAMPLE_ERRORS[code] && { errors: EXAMPLE_ERRORS[code] }),
  trace_id: '01d2a7c4-5b1f-4d0c-9c35-2f8e6b7a9d10',
});
