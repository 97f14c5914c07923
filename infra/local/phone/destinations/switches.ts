/**
 * The switches of destinations. A switch sets the fault rules of a simulator: the service itself has none, and delivers
 * what is pending by its own schedule after the switch is normal again.
 */
import * as v from 'valibot';
import type { FaultRules, Rule } from '../../simulators/fault-rules.ts';
import { fields, oneOf, phone } from '../../simulators/schemas.ts';
import { type DestinationView, type Mode, modes } from './views.ts';

/** The rule of each position. The service waits 10 s for a response. */
const rules: Record<Exclude<Mode, 'normal'>, Rule> = {
  slow: { delay_ms: 4_000 },
  failing: { status: 503 },
  loses_responses: { drop: true, after: true },
  offline: { drop: true },
};

const share = 'must be a number above 0, at most 1';

/** The body of a request that sets a switch. */
export const switchBody = fields({
  mode: oneOf(...modes),
  share: v.exactOptional(v.pipe(v.number(share), v.gtValue(0, share), v.maxValue(1, share)), 1),
  phone: v.exactOptional(v.nullable(phone), null),
});

type Position = v.InferOutput<typeof switchBody>;

/** Sets a switch. Rules that were set by a request are replaced. */
export const setSwitch = (faults: FaultRules, { mode, share, phone }: Position): void => {
  if (mode === 'normal') faults.clear();
  else faults.set({ ...rules[mode], ...(share < 1 && { share }), ...(phone !== null && { phone }) });
};

/** The position of a switch. */
export const positionOf = (
  faults: Pick<FaultRules, 'rules' | 'since'>,
): Pick<DestinationView, 'mode' | 'share' | 'phone' | 'since'> => {
  const [first, ...more] = faults.rules;
  if (first === undefined) return { mode: 'normal', share: 1, phone: null, since: null };
  const { share = 1, phone = null, ...rule } = first;
  const known = modes.find((mode) => mode !== 'normal' && isSame(rules[mode], rule));
  const mode = more.length === 0 && known !== undefined ? known : 'other';
  return { mode, share, phone, since: faults.since ?? null };
};

const isSame = (one: Rule, other: Rule): boolean =>
  JSON.stringify(Object.entries(one).sort()) === JSON.stringify(Object.entries(other).sort());
