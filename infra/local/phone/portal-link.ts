/** A link with which a developer opens the portal, signed in as a demo account. */
import { portalPermissions } from '../../../shared/accounts/portal-codes.ts';
import { issuePortalCode } from '../../operator/queries/portal-codes.ts';
import { httpError } from '../simulators/http.ts';

interface PortalLink {
  /** The URL of the API. */
  baseUrl: string;
  account: string;
  /** The view that opens first, such as `/campaigns/12`. Default: the portal's first view. */
  to: string | undefined;
}

/**
 * Issues a code to sign in, and returns the URL that contains it. Each call issues another code.
 *
 * @throws HTTPException — 422, `to` is not a path
 */
export const portalLink = async ({ baseUrl, account, to }: PortalLink): Promise<string> => {
  if (to !== undefined && !to.startsWith('/')) {
    throw httpError(422, 'to must be a path of the portal that begins with /, such as /campaigns/ID.');
  }
  const { code } = await issuePortalCode({ account, label: 'local page', permissions: portalPermissions });
  const view = to === undefined ? '' : `&to=${encodeURIComponent(to).replaceAll('%2F', '/')}`;
  return `${baseUrl}/portal#code=${code}${view}`;
};
