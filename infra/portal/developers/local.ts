/**
 * Whether the page is that of a local stack, on the developer's own machine: it has simulated users and serves the documentation.
 * A deployed service tells neither.
 */
export const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(location.hostname);

/** The hosted documentation: `infra/bundle/portal.ts` fills in the setting of the deployment. */
declare const DOCS_URL: string | null;

/** Where the documentation is; undefined if the deployment does not say. */
export const docsUrl = DOCS_URL ?? (isLocal ? '/docs' : undefined);
