/** PUT /v1/avatar: sets the avatar that users see. */

import { setAvatar } from '../../shared/accounts/avatar.ts';
import { account as api } from '../../shared/api/areas/account.ts';
import { withHashes } from '../../shared/core/hash-secret.ts';
import { endpoint, noContent } from '../../shared/http/endpoint.ts';

export const handler = endpoint(
  api.setAvatar,
  withHashes(async ({ body, ...by }) => {
    await setAvatar(by, body.file);
    return noContent();
  }),
);
