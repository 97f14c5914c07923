import { Problem } from '../../core/problems.ts';
import type { HttpMiddleware } from '../event.ts';

/** The parameter that takes what follows the slash at the end of a path. */
export const REST_OF_PATH = 'proxy';

/**
 * Refuses longer paths than one that ends with a slash: API Gateway serves such a path by `{proxy+}` only, which takes
 * everything below it too.
 *
 * @throws address_not_found — something follows the slash
 */
export const exactPath = (): HttpMiddleware => ({
  before: function exactPathBefore({ event }) {
    if (!event.pathParameters?.[REST_OF_PATH]) return;
    throw new Problem('address_not_found', 'This path does not exist. Remove anything after the final slash.');
  },
});
