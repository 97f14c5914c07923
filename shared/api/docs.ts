/** What the API description says about the endpoints of an area, besides their schemas. No function loads it. */
import type * as v from 'valibot';
import type { app } from './areas/app.ts';
import type { Endpoint } from './endpoint.ts';
import type { EndpointName } from './index.ts';

type Input<E, Part extends string> = E extends Record<Part, infer S extends v.GenericSchema> ? v.InferInput<S> : never;

type BodyOf<E> = E extends { body: { type: 'json' | 'form'; schema: infer S extends v.GenericSchema } }
  ? v.InferInput<S>
  : never;

type AnswerOf<E> = E extends {
  responses: { 200: infer S extends v.GenericSchema } | { 201: infer S extends v.GenericSchema };
}
  ? v.InferOutput<S> extends Uint8Array
    ? never
    : v.InferOutput<S>
  : never;

/** A request, and the body of its response; without `answer`, the response has no body, or bytes. */
interface ExampleOf<E> {
  /** The summary of the example. */
  shows: string;
  path?: Input<E, 'path'>;
  query?: Input<E, 'query'>;
  headers?: Input<E, 'headers'>;
  /** Missing for forms with a file. */
  body?: BodyOf<E>;
  answer?: AnswerOf<E>;
}

/** An example of any endpoint. */
export interface AnyExample {
  shows: string;
  path?: object;
  query?: object;
  headers?: object;
  body?: unknown;
  answer?: unknown;
}

/** An example, with a request of the app network that comes before it. */
type StepOf<E> = ExampleOf<E> & { after?: ExampleOf<(typeof app)['receiveAppEvents']> };

interface EndpointDocs<E> {
  /** Details, after the summary, in Markdown. */
  text: string;
  /**
   * One, or several in the order of their requests: later ones use ids of earlier responses, also of the endpoints before
   * this one. A test sends them.
   */
  examples: E extends { area: 'description' | 'portal' | 'mcp' }
    ? readonly []
    : StepOf<E> | readonly [StepOf<E>, ...StepOf<E>[]];
  /** Names of its schemas by place: `request`, `200`, `query.status`. `request[]` is an item of the list. */
  names?: Readonly<Record<string, string>>;
  /** What the parameter `id` of its path contains: the description names it so. */
  id?: string;
  /** The schema of its body, if that has further checks than the endpoint's own. */
  body?: v.GenericSchema;
  /** Types of the file that it returns. */
  fileTypes?: readonly string[];
  /** The name of the file that samples upload. Default: `picture.png`. */
  uploads?: string;
  /** Links to endpoints whose path needs a value of its response: the value's place, and what to do there. */
  links?: Partial<Record<EndpointName, readonly [place: `/${string}`, description: string]>>;
}

/** Texts and names of schemas and their fields. */
export interface SchemaDocs {
  /** Schemas by name. Where the description contains one of them, it refers to it. */
  schemas?: Readonly<Record<string, v.GenericSchema>>;
  /**
   * Names of other schemas: by place, as `infra/openapi/named-schemas.ts` writes it, or by the name of their field.
   */
  names?: Readonly<Record<string, string>>;
  /** Descriptions of fields and parameters by name, or by `endpoint.name` or `Schema.name` if it has several meanings. */
  fields?: Readonly<Record<string, string>>;
  /**
   * What the service guarantees of values that it creates, and requires of values that the endpoint checks against its
   * data, by `Schema.field`. What is said to be a `TIME` need not be here.
   */
  guarantees?: Readonly<Record<string, 'id' | 'time' | 'phone' | 'url' | 'amount'>>;
}

export interface AreaDocs<Endpoints extends Readonly<Record<string, Endpoint>>> extends SchemaDocs {
  name: string;
  description: string;
  endpoints: { readonly [Name in keyof Endpoints]: EndpointDocs<Endpoints[Name]> };
}

/** The docs of any area. */
export interface AnyAreaDocs extends SchemaDocs {
  name: string;
  description: string;
  endpoints: Readonly<Record<string, AnyEndpointDocs>>;
}

type AnyStep = AnyExample & { after?: AnyExample };

export type AnyEndpointDocs = Omit<EndpointDocs<Endpoint>, 'examples'> & {
  examples: AnyStep | readonly AnyStep[];
};

/** The format of times, for descriptions of fields. */
export const TIME = 'UTC, with microseconds and without a zone: `2022-03-28T09:58:09.118000`.';
