/** GET /v1/avatar: returns the bytes of the avatar. */
import { readAvatar } from '../../shared/customers/profile.ts';
import { endpoint, ok } from '../../shared/http/endpoint.ts';

export const handler = endpoint('readAvatar', async ({ account }) => {
  const { bytes, type } = await readAvatar(account);
  return ok(bytes, {
    'content-type': type,
    'x-content-type-options': 'nosniff',
    'content-security-policy': "sandbox; default-src 'none'",
  });
});
