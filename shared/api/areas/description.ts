/** The API description itself. */
import * as v from 'valibot';
import { responseObject } from '../../validation/bounded.ts';

import { define } from '../endpoint.ts';

export const description = {
  readApiDescription: define({
    area: 'description',
    summary: 'Read this description.',
    routes: [{ host: 'base', method: 'GET', path: '/v1/openapi.json' }],
    token: 'none',
    permission: 'none',
    responses: { 200: responseObject({ openapi: v.string() }) },
    problems: [],
    table: [],
  }),
} as const;
