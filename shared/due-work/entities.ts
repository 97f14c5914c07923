/** The rows about due work. */
import type { Entity } from '../table/entity.ts';
import { DUE, key } from '../table/keys.ts';

const SWEEP = 'SWEEP';
const CONVERSATIONS = 'CONVERSATIONS';

/** Where `sweep` continues with conversations, if its time was over before it had woken all that were due. */
export const sweepPositionsKey = key(SWEEP, CONVERSATIONS);

const sweepPositions = {
  name: 'position of sweep',
  pk: SWEEP,
  sk: CONVERSATIONS,
  restore: 'never',
  expires: true,
  person: 'none',
  access: {
    findPositions: 'GetItem',
    storePositions: 'UpdateItem',
    listDueWork: { index: 'gsi1', partition: DUE },
  },
} as const satisfies Entity;

export const dueWorkEntities = [sweepPositions] as const;
