/** Sessions of the portal: people sign in with a link of the operator, and sign out. */
import * as v from 'valibot';
import { responseList } from '../../validation/bounded.ts';
import { define } from '../endpoint.ts';

export const sessions = {
  createSession: define({
    area: 'sessions',
    summary: 'Sign in with the code in a link of the operator.',
    routes: [{ host: 'base', method: 'POST', path: '/v1/sessions' }],
    token: 'none',
    permission: 'none',
    body: { type: 'json', schema: v.object({ code: v.string() }) },
    responses: {
      201: v.object({
        token: v.string(),
        id: v.string(),
        account: v.string(),
        label: v.string(),
        permissions: responseList(v.string()),
        expires: v.string(),
      }),
    },
    problems: ['invalid_request', 'code_not_found'],
    // People sign in once a day. Nobody guesses a code: the limit bounds what requests without a token cost.
    throttle: { rate: 10, burst: 20 },
    table: ['findPortalCode', 'createSession'],
  }),

  endSession: define({
    area: 'sessions',
    summary: 'Sign out: end the session of the token of the request.',
    routes: [{ host: 'base', method: 'DELETE', path: '/v1/sessions/current' }],
    token: 'header',
    permission: 'any',
    responses: { 204: null },
    problems: ['not_a_session'],
    table: ['findTokenRecord', 'revokeToken'],
  }),
} as const;
