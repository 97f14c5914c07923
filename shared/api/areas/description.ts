/** The API description itself, and the documentation. */
import * as v from 'valibot';
import { responseObject } from '../../validation/bounded.ts';

import { define } from '../endpoint.ts';

export const apiDescriptionBody = responseObject({ openapi: v.string() });

export const description = {
  readApiDescription: define({
    area: 'description',
    summary: 'Read the API description.',
    routes: [{ host: 'base', method: 'GET', path: '/v1/openapi.json' }],
    token: 'none',
    permission: 'none',
    query: v.object({ format: v.optional(v.literal('json')) }),
    headers: v.object({ accept: v.optional(v.string()) }),
    // The description, or the page of errors.
    responses: { 200: v.union([apiDescriptionBody, v.instance(Uint8Array)]) },
    problems: ['invalid_request'],
    table: [],
  }),
  readDocumentation: define({
    area: 'description',
    summary: 'Read the documentation.',
    routes: [
      { host: 'base', method: 'GET', path: '/docs' },
      { host: 'base', method: 'GET', path: '/docs/{file}', undescribed: true },
    ],
    token: 'none',
    permission: 'none',
    path: v.object({ file: v.optional(v.string()) }),
    headers: v.object({ accept: v.optional(v.string()), 'accept-encoding': v.optional(v.string()) }),
    responses: { 200: v.instance(Uint8Array) },
    problems: ['address_not_found'],
    table: [],
  }),
} as const;
