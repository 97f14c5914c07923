/** Texts and names of the portal. */
import type { AreaDocs } from '../docs.ts';
import type { portal } from './portal.ts';

export const portalDocs: AreaDocs<typeof portal> = {
  name: 'Portal',
  description: 'The page with which people use an account: messages, campaigns, surveys, user data and webhooks.',
  endpoints: {
    readPortal: {
      text: `An HTML page, and below it the files that the page loads. Needs no token: the page asks for one, and calls this API
with it. A browser keeps the files for a year, because their names change with their content.`,
      id: 'file',
      fileTypes: ['text/html', 'text/javascript', 'text/css', 'image/svg+xml'],
      examples: [],
    },
  },
  fields: { file: 'The name of a file that the page names.', 'Accept-Encoding': '`gzip` returns a compressed body.' },
};
