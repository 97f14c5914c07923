/** Statuses of user data requests and of their properties, and events of consent. */

export const requestStatuses = ['pending', 'completed'] as const;

export type RequestStatus = (typeof requestStatuses)[number];

export const resultStatuses = ['approved', 'denied', 'unavailable', 'withdrawn', 'expired'] as const;

/** What a consent receipt is about: values were released, their consent ended, or the business has deleted its copy. */
export const receiptEvents = ['released', 'withdrawn', 'expired', 'deleted'] as const;

export type ReceiptEvent = (typeof receiptEvents)[number];
