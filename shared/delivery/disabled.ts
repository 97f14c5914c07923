/**
 * Webhooks that have asked for no more requests. Their entries wait until an operator sets the webhook again:
 *
 *     response 410        operator sets the webhook
 *     |                   |
 *     v                   v
 *     DISABLED: version   row removed, and its version is another one: waiting conversations are due
 *
 * A response to a request that began before the webhook was set again names the old version, and disables nothing.
 */
import { timestamp } from '../core/clock.ts';
import type { Destination } from '../destinations/destination.ts';
import { getConsistent, getEventual, update } from '../table/client.ts';
import type { Key } from '../table/keys.ts';
import { measure } from '../telemetry/metrics.ts';
import { disabledKey } from './entities.ts';

interface DisabledItem extends Key {
  /** The version of its settings. */
  version: string;
  since: string;
  cause: string;
  /** The id of the event that it answered. */
  event: string;
}

/** When and why a destination was disabled; undefined if it is not. 0.5 read units. */
export const findDisabled = (destination: string): Promise<DisabledItem | undefined> =>
  getEventual<DisabledItem>(disabledKey(destination));

/** As `findDisabled`, by a consistent read: for a conversation that waits because of it. 1 read unit. */
export const findDisabledNow = (destination: string): Promise<DisabledItem | undefined> =>
  getConsistent<DisabledItem>(disabledKey(destination));

/** Disables a destination, unless it is disabled with later settings. 1 write unit. */
export const disable = async (
  { name, version = '' }: Destination,
  { account, cause, event }: { account: string; cause: string; event: string },
): Promise<void> => {
  const isDisabled = await update({
    Key: disabledKey(name),
    ConditionExpression: 'attribute_not_exists(version) OR version <= :version',
    UpdateExpression: 'SET version = :version, since = :now, cause = :cause, #event = :event',
    ExpressionAttributeNames: { '#event': 'event' },
    ExpressionAttributeValues: { ':version': version, ':now': timestamp(), ':cause': cause, ':event': event },
  });
  if (isDisabled) measure('error', 'webhook disabled', { account, destination: name, cause, webhooks_disabled: 1 });
};
