/** Issues the codes with which people of an account sign in to the portal, for operators. */
import {
  mintCode,
  type PortalCodeDraft,
  portalCodeItem,
  portalPermissions,
} from '../../../shared/accounts/portal-codes.ts';
import { APP_NETWORK, type Permission } from '../../../shared/core/permissions.ts';
import { putIfAbsent } from '../../../shared/table/client.ts';
import { showAccount, UserError } from './accounts-admin.ts';

interface IssuedCode {
  code: string;
  permissions: Permission[];
  expires: number;
}

/**
 * Issues a code. Only the returned value contains it: the table stores its hash.
 *
 * @returns the code, the permissions without repetitions, and when the code expires, in milliseconds since 1970
 * @throws UserError — no such account, it is suspended or the app network, or no or wrong permissions
 */
export const issuePortalCode = async (draft: PortalCodeDraft): Promise<IssuedCode> => {
  const { account } = draft;
  const permissions = [...new Set(draft.permissions)];
  const wrong = permissions.filter((one) => !portalPermissions.some((known) => known === one));
  if (permissions.length === 0 || wrong.length > 0) {
    throw new UserError(
      `A session of the portal has at least one of these permissions, and no others: ${portalPermissions.join(', ')}.`,
    );
  }
  const { suspended } = await showAccount(account);
  if (account === APP_NETWORK) throw new UserError('The app network does not use the portal.');
  if (suspended !== undefined) {
    throw new UserError(
      `The account "${account}" is suspended, so nobody can sign in: "account resume ${account}" ends that.`,
    );
  }
  const code = mintCode();
  const item = portalCodeItem(code, { ...draft, permissions });
  await putIfAbsent(item);
  return { code, permissions, expires: item.expires_at * 1_000 };
};
