/** Statuses of user data requests, and of their properties. */

export const requestStatuses = ['pending', 'completed'] as const;

export type RequestStatus = (typeof requestStatuses)[number];

export const resultStatuses = ['approved', 'denied', 'unavailable', 'withdrawn', 'expired'] as const;
