/** Requests of the API description. */
import type { description } from '../../../shared/api/areas/description.ts';
import type { Scenarios } from './scenarios.ts';

export const descriptionScenarios: Scenarios<typeof description> = {
  readApiDescription: {
    readsOnly: true,
    max: { read: 0, write: 0, of: 'any' },
  },
};
