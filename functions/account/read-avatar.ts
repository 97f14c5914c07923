/** GET /v1/avatar: returns the bytes of the avatar. */

import { readAvatar } from '../../shared/accounts/profile.ts';
import { account as api } from '../../shared/api/areas/account.ts';
import { endpoint, ok } from '../../shared/http/endpoint.ts';

export const handler = endpoint(api.readAvatar, async ({ account }) => {
  const { bytes, type } = await readAvatar(account);
  return ok(bytes, {
    'content-type': type,
    'x-content-type-options': 'nosniff',
    'content-security-policy': "sandbox; default-src 'none'",
  });
});
