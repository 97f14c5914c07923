/** Delivery attempts about a user, for erasure and export. */
import { page } from '../../table/client.ts';
import type { Key } from '../../table/keys.ts';
import { deliveriesAbout } from '../entities.ts';

/**
 * The keys of the delivery attempts about a user, of all accounts: those about what was accepted by `until`. 0.5 read units
 * for 4 KB of the index.
 */
export const attemptsAbout = (
  phone: string,
  { until = '~', ...options }: { until?: string; Limit?: number; ExclusiveStartKey?: Record<string, unknown> },
) =>
  page<Key>({
    IndexName: 'gsi2',
    KeyConditionExpression: 'gsi2pk = :person AND gsi2sk <= :until',
    ExpressionAttributeValues: { ':person': deliveriesAbout(phone), ':until': until },
    ProjectionExpression: 'pk, sk',
    ...options,
  });
