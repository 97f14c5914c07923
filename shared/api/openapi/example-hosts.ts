/** Placeholders for the hosts in `openapi.json`. A stack replaces them by its own URLs. */
export const exampleHosts = { base: 'https://api.example.com', bridge: 'https://bridge.example.com' };
