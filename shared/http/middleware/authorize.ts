import { APP_NETWORK, type Permission } from '../../core/permissions.ts';
import { Problem } from '../../core/problems.ts';
import type { Caller, HttpEvent, HttpMiddleware } from '../event.ts';

/** Most permissions of a caller. */
const MOST_PERMISSIONS = 100;

/** Whether the authorizer's context is complete. By hand, because each request needs it, and a schema takes longer. */
const isCaller = (context: unknown): context is Caller => {
  const { account, token, label, permissions, rate, burst } = (context ?? {}) as Record<string, unknown>;
  return (
    typeof account === 'string' &&
    typeof token === 'string' &&
    typeof label === 'string' &&
    Array.isArray(permissions) &&
    permissions.length <= MOST_PERMISSIONS &&
    permissions.every((permission) => typeof permission === 'string') &&
    (rate === undefined || typeof rate === 'number') &&
    (burst === undefined || typeof burst === 'number')
  );
};

/** The caller, by the authorizer's context; undefined if the route has no authorizer. */
export const identityOf = (event: HttpEvent): Caller | undefined => {
  const context = event.requestContext.authorizer?.lambda;
  return isCaller(context) ? context : undefined;
};

/**
 * Rejects requests whose token lacks a permission.
 *
 * @throws permission_required — the token is valid, and lacks the permission
 */
export const authorize = (permission: Permission | 'any'): HttpMiddleware => {
  // The same for all requests, because an error is expensive to make.
  const lacking = new Problem(
    'permission_required',
    permission === 'any'
      ? 'The app network has no account of a customer.'
      : `This token lacks the permission "${permission}". Ask the operator for a token that has it.`,
  );
  const isAllowed = ({ account, permissions }: Caller): boolean =>
    permission === 'any' ? account !== APP_NETWORK : permissions.includes(permission);
  return {
    before: function authorizeBefore({ event }) {
      const caller = identityOf(event);
      if (caller === undefined) throw new Error('The authorizer passed no identity on.');
      if (!isAllowed(caller)) throw lacking;
    },
  };
};
