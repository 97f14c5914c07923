/** Requests of the tokens that a business manages itself, and of the history of its account. */
import { historyWrite } from '../../../shared/accounts/history.ts';
import { newToken } from '../../../shared/accounts/token-records.ts';
import type { tokens } from '../../../shared/api/areas/tokens.ts';
import { newId } from '../../../shared/core/ids.ts';
import { permissions } from '../../../shared/core/permissions.ts';
import { transact } from '../../../shared/table/transactions.ts';
import { authorOf } from '../support/world.ts';
import { consistent, eventual } from './kilobytes.ts';
import type { Scenarios } from './scenarios.ts';
import { longest } from './world.ts';

/** KB of a record with the longest label, and of a change. */
const [RECORD, CHANGE] = [0.9, 0.9];
/** Tokens that a test adds. */
const TOKENS = 50;

/** Adds a token to an account. Returns its id. */
const addToken = async (account: string, label = 'test'): Promise<string> => {
  const { record, writes } = newToken({ label, permissions: ['stats'] }, { account, keeper: account });
  await transact(writes);
  return record.id;
};

const body = { label: 'Reporting', permissions: ['stats'] };

export const tokensScenarios: Scenarios<typeof tokens> = {
  createToken: {
    prepare: async () => ({ body }),
    repeat: 'new',
    max: { read: 0, write: 8, of: 'any' },
    worst: {
      prepare: async () => ({ body: { ...body, label: longest(100) } }),
      beyond: () => ({ body: { ...body, label: longest(101) } }),
    },
  },
  listTokens: {
    prepare: async ({ account }) => {
      await addToken(account);
      return {};
    },
    readsOnly: true,
    max: { read: consistent(1_000 * RECORD), write: 0, of: '1,000 tokens with the longest labels' },
    worst: {
      prepare: async ({ account }) => {
        for (let count = 0; count < TOKENS; count += 1) await addToken(account, longest(100));
        return {};
      },
      whole: ({ read, write }) => ({ read: (read * 1_000) / TOKENS, write }),
    },
  },
  rotateToken: {
    prepare: async ({ account }) => ({ path: { token_id: await addToken(account) }, body: {} }),
    repeat: 'new',
    max: { read: 1, write: 15, of: 'any' },
  },
  revokeToken: {
    prepare: async ({ account }) => ({ path: { token_id: await addToken(account) } }),
    max: { read: 1, write: 8, of: 'any' },
  },
  listHistory: {
    prepare: async ({ account }) => {
      await transact([historyWrite(authorOf(account), { type: 'avatar.updated' })]);
      return {};
    },
    readsOnly: true,
    max: { read: eventual(500 * CHANGE), write: 0, of: '500 changes with the longest labels' },
    worst: {
      prepare: async ({ account }) => {
        const by = { account, token: newId(), label: longest(100) };
        const created = () => historyWrite(by, { type: 'token.created', id: by.token, fields: [...permissions] });
        for (let count = 0; count < 5; count += 1) await transact(Array.from({ length: 100 }, created));
        return { query: { limit: '500' } };
      },
      beyond: () => ({ query: { limit: '501' } }),
    },
  },
};
