/**
 * Stands in for the SDK's cache of discovered endpoints when functions are bundled: discovery is off, so that nothing is
 * ever looked up in it, and its map is 8 KB that every cold start would load.
 */
export class EndpointCache {}
