/** What a token may be used for. */
export const permissions = ['profilers', 'stats', 'user_data', 'messages', 'bridge', 'app'] as const;

export type Permission = (typeof permissions)[number];

/** Reserved for the servers of the mobile app: the only account whose tokens have `app`, and they have nothing else. */
export const APP_NETWORK = 'app-network';
