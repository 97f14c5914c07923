/** A panelist's answer: as a request contains it, and in the table. */
import * as v from 'valibot';
import type { Key } from '../table/keys.ts';
import { idOfAnything, phoneNumber, visibleText } from '../validation/schemas.ts';

export const answer = v.object({
  profiler_id: v.pipe(visibleText, idOfAnything),
  option_id: v.pipe(visibleText, idOfAnything),
  phone_number: phoneNumber,
});

export type Answer = v.InferOutput<typeof answer>;

/** An answer in the table. */
export interface AnswerItem extends Key {
  option_id: string;
  created: string;
  /** Whether the worker `count` has added it to the results, and to which shard. */
  counted: boolean;
  counted_in?: number;
  gsi2pk: string;
  gsi2sk: string;
}
