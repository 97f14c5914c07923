/** One example of a request and its response, with the types of its endpoint. */
import type * as v from 'valibot';
import type { Api, EndpointName } from '../../shared/api/index.ts';

type Input<E, Part extends string> = E extends Record<Part, infer S extends v.GenericSchema> ? v.InferInput<S> : never;

type BodyOf<E> = E extends { body: { type: 'json' | 'form'; schema: infer S extends v.GenericSchema } }
  ? v.InferInput<S>
  : never;

type AnswerOf<E> = E extends { responses: { 200: infer S extends v.GenericSchema } }
  ? v.InferOutput<S> extends Uint8Array
    ? never
    : v.InferOutput<S>
  : never;

/** A request, and the body of its response; without `answer`, the response has no body, or bytes. */
export interface Example<Name extends EndpointName = EndpointName> {
  endpoint: Name;
  /** The summary of the example. */
  shows: string;
  path?: Input<Api[Name], 'path'>;
  query?: Input<Api[Name], 'query'>;
  headers?: Input<Api[Name], 'headers'>;
  /** Missing for forms with a file. */
  body?: BodyOf<Api[Name]>;
  answer?: AnswerOf<Api[Name]>;
}

export const example = <const Name extends EndpointName>(
  endpoint: Name,
  shows: string,
  parts: Omit<Example<Name>, 'endpoint' | 'shows'> = {},
): Example => ({ endpoint, shows, ...parts }) as unknown as Example;
