/**
 * Replaces the SDK's cache of discovered endpoints in bundles. Endpoint discovery is off, so the cache is never used;
 * its code is 8 KB that every cold start would load.
 */
export class EndpointCache {}
