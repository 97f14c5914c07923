/** The words of the delivery history in the API. */
import type { DeliveryOutcome } from '../entities.ts';

export const deliveryStatuses = ['succeeded', 'failed'] as const satisfies readonly DeliveryOutcome[];

/** The types of events: each is the name of the field that their body has in version 1, or a test of an endpoint. */
export const eventTypes = ['message', 'status', 'user_data', 'user', 'test'] as const;

export type EventType = (typeof eventTypes)[number];

/** Why a listener has no response. */
export const listenerErrors = ['timeout', 'no_connection', 'invalid_response'] as const;

export type ListenerError = (typeof listenerErrors)[number];

/**
 * What became of a claimed event:
 *
 * - `delivered`: the program accepted it.
 * - `pending`: it can be claimed again, at the time of its next attempt.
 * - `failed`: it has failed permanently.
 * - `gone`: it was settled before, or its user was erased.
 */
export const settlementStatuses = ['delivered', 'pending', 'failed', 'gone'] as const;

export type SettlementStatus = (typeof settlementStatuses)[number];
