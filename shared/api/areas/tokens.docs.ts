/** Texts, names and examples of tokens that a business manages itself, and of the history of its account. */
import { inDays, OPERATION_DAYS } from '../../core/lifetimes.ts';
import { type AreaDocs, TIME } from '../docs.ts';
import { placeholders } from '../placeholders.ts';
import { change, issuedToken, tokenRecord, type tokens } from './tokens.ts';

const { madeToken, newerToken, time } = placeholders;

const record = {
  id: madeToken,
  label: 'Reporting',
  permissions: ['stats'],
  last_four: '1f0c',
  created: time,
  expires: '2030-01-01T00:00:00.000000',
};

const EXAMPLE_TOKEN = `bapi_${'0123456789abcdef'.repeat(4)}9e1b1f0c`;

export const tokensDocs: AreaDocs<typeof tokens> = {
  name: 'Tokens',
  description: 'The tokens of your account, and what was changed with them.',
  endpoints: {
    createToken: {
      text: `With some of the permissions of the token of the request, and with no others: \`admin\` itself is only given by an
operator. \`token\` is shown in this response only. Give each program a token of its own, with what it needs: its label is in the
history, and you can revoke it alone.`,
      names: { request: 'NewToken' },
      examples: {
        shows: 'A token for statistics',
        body: { label: 'Reporting', permissions: ['stats'], expires: '2030-01-01T00:00:00Z' },
        answer: { ...record, token: EXAMPLE_TOKEN },
      },
    },
    listTokens: {
      text: 'The oldest first, also those that were revoked or have expired. The tokens themselves are not stored.',
      examples: { shows: 'A token for statistics', answer: [record] },
    },
    rotateToken: {
      text: `Makes a token with the same label, permissions and expiry. For \`overlap_hours\`, the former one works, too: change your
program within that time. A token with a permission that the token of the request lacks returns 403.`,
      names: { request: 'TokenOverlap' },
      examples: {
        shows: 'Two days to change the program',
        path: { token_id: madeToken },
        body: { overlap_hours: 48 },
        answer: { ...record, id: newerToken, token: EXAMPLE_TOKEN },
      },
    },
    revokeToken: {
      text: 'It stops working within 60 seconds. You may also revoke the token of the request. A repeat changes nothing.',
      examples: { shows: 'The token is revoked', path: { token_id: newerToken } },
    },
    listHistory: {
      text: `What was changed over the API, the newest change first: tokens, webhooks, settings, name and avatar. Kept for
${inDays(OPERATION_DAYS)}. What an operator changes is not here.`,
      examples: {
        shows: 'A token was revoked',
        query: { limit: '1' },
        answer: [{ created: time, type: 'token.revoked', id: newerToken, token_id: madeToken, token_label: 'test' }],
      },
    },
  },
  schemas: { TokenRecord: tokenRecord, IssuedToken: issuedToken, AccountChange: change },
  names: { 'NewToken.permissions[]': 'Permission', 'NewToken.expires': 'SendTime' },
  fields: {
    'NewToken.label': 'What the token is for. People read it in lists and in the history.',
    'NewToken.permissions': 'What the token may do: some of the permissions of the token of the request.',
    'NewToken.expires':
      'When it stops working: RFC 3339 (without a zone: UTC), or Unix seconds. Default: it does not expire.',
    'TokenRecord.id': 'The id of the token.',
    'IssuedToken.id': 'The id of the token.',
    'TokenRecord.last_four': 'The last four characters of the token.',
    'IssuedToken.last_four': 'The last four characters of the token.',
    'TokenRecord.expires': `When it stops working; null if it does not expire. ${TIME}`,
    'IssuedToken.expires': `When it stops working; null if it does not expire. ${TIME}`,
    'TokenRecord.revoked': `When it was revoked. ${TIME}`,
    'IssuedToken.revoked': `When it was revoked. ${TIME}`,
    'IssuedToken.token': 'The token, for the header `Authorization`.',
    overlap_hours: 'For how many hours the former token works, too: at most seven days. Default: 24.',
    token_id: 'The `id` of a token.',
    'AccountChange.type': 'What was changed, and how.',
    'AccountChange.id': 'The id of the token or the webhook that was changed.',
    'AccountChange.fields': 'The names of the fields that were given, or the permissions of a new token.',
    'AccountChange.token_id': 'The id of the token that made the change.',
    'AccountChange.token_label': 'The label of this token.',
    'listHistory.limit': 'The maximum number of changes.',
  },
  guarantees: { 'TokenRecord.id': 'id', 'IssuedToken.id': 'id', 'AccountChange.token_id': 'id' },
};
