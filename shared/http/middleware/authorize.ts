import * as v from 'valibot';
import type { Permission } from '../../core/permissions.ts';
import { Problem } from '../../core/problems.ts';
import { listOf } from '../../validation/bounded.ts';
import type { HttpEvent, HttpMiddleware } from '../event.ts';

/** What the authorizer hands on (`Identity` of the tokens). */
const identity = v.object({
  account: v.string(),
  token: v.string(),
  permissions: listOf(v.string(), { max: 100, of: 'permissions' }),
});

/** The caller by the authorizer's context; nothing, if the route has no authorizer. */
export const identityOf = (event: HttpEvent): v.InferOutput<typeof identity> | undefined => {
  const { success, output } = v.safeParse(identity, event.requestContext.authorizer?.lambda);
  return success ? output : undefined;
};

/**
 * Lets a request pass whose token has the permission.
 *
 * @throws permission_required — the token is valid, but not for this
 */
export const authorize = (permission: Permission): HttpMiddleware => ({
  before: function authorizeBefore(request) {
    const caller = identityOf(request.event);
    // Stryker disable next-line StringLiteral: The log has the name of the error, not its message.
    if (caller === undefined) throw new Error('The authorizer passed no identity on.');
    if (!caller.permissions.includes(permission)) {
      throw new Problem(
        'permission_required',
        `This token lacks the permission "${permission}". Ask the operator for a token that has it.`,
      );
    }
  },
});
