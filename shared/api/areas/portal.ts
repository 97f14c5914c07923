/** The portal: the page with which people use an account. */
import * as v from 'valibot';
import { define } from '../endpoint.ts';

export const portal = {
  readPortal: define({
    area: 'portal',
    summary: 'Return the portal.',
    routes: [
      { host: 'base', method: 'GET', path: '/portal' },
      { host: 'base', method: 'GET', path: '/portal/{file}', undescribed: true },
    ],
    token: 'none',
    permission: 'none',
    path: v.object({ file: v.optional(v.string()) }),
    headers: v.object({ 'accept-encoding': v.optional(v.string()), 'if-none-match': v.optional(v.string()) }),
    responses: { 200: v.instance(Uint8Array), 304: null },
    problems: ['address_not_found'],
    table: [],
  }),
} as const;
