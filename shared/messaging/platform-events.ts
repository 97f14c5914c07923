/** What a chat platform is notified of besides users' messages, and the states of the messages that it sent. */
import type { OptOutState } from '../outbox/event.ts';

/** A user stops or starts the business, or is removed; any message reaches a state; a user data request is completed. */
type PlatformEvent = OptOutState | 'removed' | 'any_state' | 'completed';

const OF_WEBHOOKS: readonly PlatformEvent[] = ['stopped', 'started', 'any_state', 'completed'];

/** RapidPro has no request for a start. A platform without a line gets nothing more. */
const EVENTS: Partial<Record<string, readonly PlatformEvent[]>> = {
  rapidpro: ['stopped', 'removed'],
  webhook: OF_WEBHOOKS,
  webhooks: OF_WEBHOOKS,
};

/** Whether a platform is notified of an event. */
export const isNotified = (platform: string | undefined, event: PlatformEvent): boolean =>
  platform !== undefined && EVENTS[platform]?.includes(event) === true;
