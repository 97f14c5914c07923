/** Texts, names and examples of sessions of the portal. */
import { CODE_MINUTES, SESSION_HOURS } from '../../core/lifetimes.ts';
import { type AreaDocs, TIME } from '../docs.ts';
import { placeholders } from '../placeholders.ts';
import type { sessions } from './sessions.ts';

const { code, session, sessionToken } = placeholders;

export const sessionsDocs: AreaDocs<typeof sessions> = {
  name: 'Sessions',
  description: 'Signing in to the portal with a link of the operator, and signing out.',
  endpoints: {
    createSession: {
      text: `Needs no token. The operator's link ends with \`#code=CODE\`; the code works once, within ${CODE_MINUTES} minutes. \`token\` is
shown in this response only, and works for ${SESSION_HOURS} hours. Above ten requests a second of all callers together, API Gateway returns 429.`,
      names: { request: 'SignIn', 201: 'Session' },
      examples: {
        shows: 'The code of a link',
        body: { code },
        answer: {
          token: sessionToken,
          id: session,
          account: 'acme-research',
          label: 'portal',
          permissions: ['profilers', 'stats', 'user_data', 'messages', 'contacts', 'account', 'bridge', 'admin'],
          expires: '2026-11-20T21:58:09.118000',
        },
      },
    },
    endSession: {
      text: 'The token stops working within 60 seconds. A repeat changes nothing. A token that is not of a session returns 409.',
      examples: { shows: 'The session has ended' },
    },
  },
  fields: {
    'SignIn.code': "The code in the operator's link.",
    'Session.token': 'The token, for the header `Authorization`.',
    'Session.id': 'The id of the token.',
    'Session.label': 'The label of the token: `portal`, unless the operator gave another one.',
    'Session.expires': `When it stops working. ${TIME}`,
  },
  guarantees: { 'Session.id': 'id' },
};
