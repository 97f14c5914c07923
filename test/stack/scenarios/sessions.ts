/** Requests of sessions of the portal. */
import { issuePortalCode } from '../../../infra/operator/queries/portal-codes.ts';
import { accountTokenKey, tokenKey } from '../../../shared/accounts/entities.ts';
import { portalPermissions } from '../../../shared/accounts/portal-codes.ts';
import type { sessions } from '../../../shared/api/areas/sessions.ts';
import { putAll } from '../../../shared/table/client.ts';
import type { Scenarios } from './scenarios.ts';
import { longest } from './world.ts';

const HASH = '0'.repeat(64);

/** Makes the token of the requests one of a session. */
const addSession = async (account: string): Promise<void> => {
  const created = '2026-11-20T09:58:09.118000';
  const about = { label: 'portal', permissions: ['stats'] };
  await putAll([
    { ...tokenKey(HASH), account, token: 'token-1', ...about },
    { ...accountTokenKey(account, 'token-1'), id: 'token-1', ...about, created, sha256: HASH, session: true },
  ]);
};

export const sessionsScenarios: Scenarios<typeof sessions> = {
  createSession: {
    prepare: async ({ account }) => {
      const { code } = await issuePortalCode({ account, label: 'portal', permissions: ['stats'] });
      return { body: { code } };
    },
    // The code is used up.
    repeatStatus: 404,
    max: { read: 1, write: 15, of: 'any' },
    worst: {
      prepare: async ({ account }) => {
        const { code } = await issuePortalCode({ account, label: longest(100), permissions: [...portalPermissions] });
        return { body: { code } };
      },
    },
  },
  endSession: {
    prepare: async ({ account }) => {
      await addSession(account);
      return {};
    },
    max: { read: 1, write: 8, of: 'any' },
  },
};
