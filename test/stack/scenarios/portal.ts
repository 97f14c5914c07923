/** Requests of the portal. */
import type { portal } from '../../../shared/api/areas/portal.ts';
import type { Scenarios } from './scenarios.ts';

export const portalScenarios: Scenarios<typeof portal> = {
  readPortal: {
    prepare: async () => ({ route: 'GET /portal' }),
    readsOnly: true,
    max: { read: 0, write: 0, of: 'any' },
  },
};
