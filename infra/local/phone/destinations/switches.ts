/**
 * The switches of destinations. A switch sets the fault rules of a simulator: the service itself has none, and delivers
 * what is pending by its own schedule after the switch is normal again.
 */
import * as v from 'valibot';
import type { FaultRules, Rule } from '../../simulators/fault-rules.ts';
import { httpError } from '../../simulators/http.ts';
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

/** The body of a request that changes a switch: what it does not name stays, so that quick choices of a person add up. */
export const switchBody = fields({
  mode: v.exactOptional(oneOf(...modes)),
  share: v.exactOptional(v.pipe(v.number(share), v.gtValue(0, share), v.maxValue(1, share))),
  phone: v.exactOptional(v.nullable(phone)),
});

/**
 * Changes a switch. A mode replaces rules that were set by a request, but not the share and the user of the first.
 *
 * @throws HTTPException — 422, such rules, or a normal switch, have no share and no user that could be changed
 */
export const setSwitch = (faults: FaultRules, change: v.InferOutput<typeof switchBody>): void => {
  const { mode, share, phone } = { ...positionOf(faults), ...change };
  if (mode === 'other' || (mode === 'normal' && change.mode === undefined)) {
    throw httpError(422, 'No switch is set whose share or user could be changed. Give a mode, too.');
  }
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
