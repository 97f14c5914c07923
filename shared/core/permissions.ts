/** The permissions that a token can have. */
export const permissions = [
  'profilers',
  'stats',
  'user_data',
  'messages',
  'contacts',
  'account',
  'bridge',
  'listen',
  'admin',
  'app',
] as const;

export type Permission = (typeof permissions)[number];

/** The account of the mobile app's servers. Only its tokens have the permission `app`, and they have no other one. */
export const APP_NETWORK = 'app-network';
