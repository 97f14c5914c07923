/** Texts and names of the portal. */
import type { AreaDocs } from '../docs.ts';
import type { portal } from './portal.ts';

export const portalDocs: AreaDocs<typeof portal> = {
  name: 'Portal',
  description: 'The page with which people use an account: messages, campaigns, surveys, user data and webhooks.',
  endpoints: {
    readPortal: {
      text: `An HTML page. Needs no token: it asks for one, and calls this API with it.`,
      id: 'file',
      fileTypes: ['text/html'],
      examples: [],
    },
  },
  fields: { 'Accept-Encoding': '`gzip` returns a compressed body.' },
};
