/** Requests of the API description and the documentation. */
import type { description } from '../../../shared/api/areas/description.ts';
import type { Scenarios } from './scenarios.ts';

export const descriptionScenarios: Scenarios<typeof description> = {
  readApiDescription: {
    readsOnly: true,
    max: { read: 0, write: 0, of: 'any' },
  },
  readDocumentation: {
    prepare: async () => ({ route: 'GET /docs' }),
    readsOnly: true,
    max: { read: 0, write: 0, of: 'any' },
  },
};
