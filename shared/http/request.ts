import type * as v from 'valibot';
import type { Endpoint } from '../api/endpoint.ts';
import type { Permission } from '../core/permissions.ts';

type OutputOf<Schema> = Schema extends v.GenericSchema ? v.InferOutput<Schema> : undefined;

type Part<E, Name extends 'path' | 'query' | 'headers'> =
  E extends Record<Name, infer Schema> ? OutputOf<Schema> : undefined;

/** The input of an endpoint's handler: the caller's account, and the parts of the request, typed by their schemas. */
export interface RequestOf<E extends Endpoint> {
  method: string;
  account: E['permission'] extends 'none' ? undefined : string;
  /** The id of the caller's token. */
  token: E['permission'] extends 'none' ? undefined : string;
  /** The label of the caller's token. */
  label: E['permission'] extends 'none' ? undefined : string;
  /** The permissions of the caller's token. */
  permissions: readonly Permission[];
  /** The limit of requests of the caller's account, if it has one. */
  limit: { rate: number; burst: number } | undefined;
  path: Part<E, 'path'>;
  query: Part<E, 'query'>;
  headers: Part<E, 'headers'>;
  body: E extends { body: { schema: infer Schema } } ? OutputOf<Schema> : undefined;
  /** Returns the body as it was sent. */
  bytes: () => Buffer;
  /** When the request reached the service, in milliseconds since 1970. */
  arrived: number;
  /** Returns the milliseconds that are left for the response. */
  remaining: () => number;
}
