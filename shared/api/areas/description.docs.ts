/** Texts, names and examples of the API description itself. */
import type { AreaDocs } from '../docs.ts';
import type { description } from './description.ts';

export const descriptionDocs: AreaDocs<typeof description> = {
  name: 'Description',
  description: 'This document.',
  endpoints: {
    readApiDescription: {
      text: 'OpenAPI 3.1, with the hosts of this service. Needs no token.',
      names: { 200: 'ApiDescription' },
      examples: [],
    },
  },
};
