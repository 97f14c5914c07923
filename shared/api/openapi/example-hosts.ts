/** What stands for the hosts in `openapi.json`, until a stack says its own. */
export const exampleHosts = { base: 'https://api.example.com', bridge: 'https://bridge.example.com' };
