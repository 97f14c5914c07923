/** The words of the delivery history in the API. */
import type { DeliveryOutcome } from '../table/people-keys.ts';

export const deliveryStatuses = ['succeeded', 'failed'] as const satisfies readonly DeliveryOutcome[];

/** The types of events: each is the name of the field that their body has. */
export const eventTypes = ['message', 'status', 'user_data', 'user'] as const;

export type EventType = (typeof eventTypes)[number];
