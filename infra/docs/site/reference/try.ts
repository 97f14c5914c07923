/** The form with which an operation is tried out: the page has the origin of the API. */
import type { Described, Resolve, Schema } from './description.ts';

/** What a local stack has for requests of the page. */
export interface LocalOrigin {
  /** The token of requests, until people enter another one. */
  token: string;
  /** The token of the app network, for its own requests. */
  app_token: string;
  /** The path of the page's host that leads to the bridge. */
  bridge: string;
}

export interface Attempt {
  method: string;
  /** The path on the page's host; parameters are in braces. */
  url: string;
  /** Empty: people enter theirs. Undefined: the operation needs none. */
  token: string | undefined;
  /** Whether the stack makes what the example values name. */
  makesExamples: boolean;
  inputs: Input[];
  /** What the body is: JSON as a text, or a form with fields. */
  body: 'json' | 'form' | 'multipart' | undefined;
}

interface Input {
  place: 'path' | 'query' | 'header' | 'field';
  name: string;
  value: string;
  isRequired: boolean;
  /** A list is a text with one value a line. */
  kind: 'text' | 'list' | 'file';
}

const BODIES: Record<string, Attempt['body']> = {
  'application/json': 'json',
  'application/x-www-form-urlencoded': 'form',
  'multipart/form-data': 'multipart',
};

export const attemptOf = (
  { method, route, isOfBridge }: { method: string; route: string; isOfBridge: boolean },
  { security = [], parameters = [], requestBody }: Described,
  local: LocalOrigin | undefined,
  resolve: Resolve,
): Attempt | undefined => {
  // Only a local stack forwards requests to the bridge host.
  if (isOfBridge && local === undefined) return;
  const [[type = '', media] = []] = Object.entries(requestBody?.content ?? {});
  const body = BODIES[type];
  const ownToken = (route.startsWith('/v1/app/') ? local?.app_token : local?.token) ?? '';
  return {
    method,
    url: `${isOfBridge ? local?.bridge : ''}${route}`,
    token: security.length > 0 ? ownToken : undefined,
    makesExamples: local !== undefined,
    inputs: [
      ...parameters.map(({ name, in: place, required = false, example }): Input => {
        // With the same idempotency key, a second request would be a repeat of the first.
        const value = place === 'header' || example === undefined ? '' : String(example);
        return { place, name, value, isRequired: required, kind: 'text' };
      }),
      ...(media === undefined || body === 'json' ? [] : fieldsOf(resolve(media.schema), resolve)),
    ],
    body,
  };
};

const fieldsOf = ({ properties = {}, required = [] }: Schema, resolve: Resolve): Input[] =>
  Object.entries(properties).map(([name, schema]) => {
    const { type, format, examples: [example = ''] = [] } = resolve(schema);
    return {
      place: 'field',
      name,
      value: [example].flat().join('\n'),
      isRequired: required.includes(name),
      kind: format === 'binary' ? 'file' : type === 'array' ? 'list' : 'text',
    };
  });
