/** Texts, names and examples of the API description and the documentation. */
import type { AreaDocs } from '../docs.ts';
import type { description } from './description.ts';

export const descriptionDocs: AreaDocs<typeof description> = {
  name: 'Description',
  description: 'This document, and the documentation.',
  endpoints: {
    readApiDescription: {
      text: 'OpenAPI 3.1, with the hosts of this service. Needs no token. With `text/html` in `Accept`, as browsers send it, the response is a page of all errors, so the `type` of a problem leads people to its section; `format=json` returns the description to browsers, too.',
      names: { 200: 'ApiDescription' },
      fileTypes: ['text/html'],
      examples: [],
    },
    readDocumentation: {
      text: 'Guides and the reference of this version, with the hosts of this service. Needs no token. Programs start at `/docs/llms.txt`: each page is also Markdown.',
      id: 'file',
      fileTypes: ['text/html'],
      examples: [],
    },
  },
  fields: { 'readApiDescription.format': 'Return the description, whatever `Accept` contains.' },
};
