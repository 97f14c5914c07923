/** What can be changed, and how. */
export const changes = [
  'token.created',
  'token.rotated',
  'token.revoked',
  'session.created',
  'session.ended',
  'webhook.created',
  'webhook.updated',
  'webhook.secret_rotated',
  'webhook.deleted',
  'account.updated',
  'avatar.updated',
] as const;
