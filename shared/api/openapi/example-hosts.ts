/** Placeholders for the hosts in `openapi.json`, which a stack replaces by its own. */
export const exampleHosts = { base: 'https://api.example.com', bridge: 'https://bridge.example.com' };
