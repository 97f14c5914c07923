/** The texts of claims. */
import { expect, test } from 'vitest';
import { decodeClaim, encodeClaim } from '../../../shared/delivery/listeners/claims.ts';
import { named } from '../../../shared/outbox/entities.ts';
import { conversationsOf } from '../../../shared/outbox/event.ts';

test('a claim of each conversation of a user reads back as the same', () => {
  const id = '0198c0de-0000-7000-8000-000000000000';
  for (const conversation of conversationsOf('acme', '27821234567')) {
    const { direction, user } = named(conversation);
    const claim = { direction, user, entry: id, id };
    expect(decodeClaim(encodeClaim(claim))).toEqual(claim);
  }
});
