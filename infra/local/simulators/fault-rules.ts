/** Fault injection: rules by which a simulator delays, fails or drops responses. */
import * as v from 'valibot';
import { now } from '../../../shared/core/clock.ts';
import { Changes } from './changes.ts';
import { noContent, parseJson } from './http.ts';
import { check, fields, phone, wholeNumber, yes } from './schemas.ts';
import type { RequestContext, Routes } from './server.ts';

/** In milliseconds. For no response at all, use `hang`. */
const LONGEST_DELAY = 600_000;

const share = 'must be a number from 0 to 1';

const rule = v.pipe(
  fields({
    status: v.exactOptional(wholeNumber(200, 599)),
    delay_ms: v.exactOptional(wholeNumber(0, LONGEST_DELAY)),
    /** Closes the connection without a response. */
    drop: v.exactOptional(yes),
    /** Never responds. */
    hang: v.exactOptional(yes),
    /** With `drop` or `hang`: accepts the call first, so that only its response is lost. */
    after: v.exactOptional(yes),
    /** Seconds. */
    retry_after: v.exactOptional(wholeNumber(0)),
    share: v.exactOptional(v.pipe(v.number(share), v.minValue(0, share), v.maxValue(1, share))),
    times: v.exactOptional(wholeNumber(1)),
    phone: v.exactOptional(phone),
  }),
  v.check(
    ({ status, drop, hang }) => [status !== undefined, drop, hang].filter(Boolean).length <= 1,
    'must have one of status, drop and hang, or none of them',
  ),
  v.check(
    ({ drop, hang, after }) => !after || drop === true || hang === true,
    'must have drop or hang where it has after',
  ),
  v.check(
    ({ status, retry_after }) => retry_after === undefined || status !== undefined,
    'must have status where it has retry_after',
  ),
);

/** A response, and the calls that it applies to. */
export type Rule = v.InferOutput<typeof rule>;

const rulesIn = (input: unknown): Rule[] => (Array.isArray(input) ? check(v.array(rule), input) : [check(rule, input)]);

export class FaultRules {
  readonly changes = new Changes();
  readonly #random: () => number;
  #rules: readonly Rule[] = [];
  #since: string | undefined;

  /** @param random - returns a number from 0 to below 1 */
  constructor(random: () => number) {
    this.#random = random;
  }

  /** The rules for the next calls. Without rules, every response is normal. */
  get rules(): readonly Rule[] {
    return this.#rules;
  }

  /** When the rules were set, as an ISO time; undefined without rules. */
  get since(): string | undefined {
    return this.#rules.length > 0 ? this.#since : undefined;
  }

  /**
   * Replaces the rules: with one rule, or a list.
   *
   * @throws HTTPException — 422, a rule is invalid
   */
  set(input: unknown): void {
    this.#replace(rulesIn(input));
  }

  /**
   * Replaces the rules of one phone, which then come before all others.
   *
   * @throws HTTPException — 422, a rule is invalid
   */
  setOf(phone: string, input: unknown): void {
    this.#replace([...rulesIn(input).map((rule) => ({ ...rule, phone })), ...this.#exceptOf(phone)]);
  }

  clear(): void {
    this.#replace([]);
  }

  clearOf(phone: string): void {
    this.#replace(this.#exceptOf(phone));
  }

  #exceptOf(phone: string): Rule[] {
    return this.#rules.filter((rule) => rule.phone !== phone);
  }

  #replace(rules: readonly Rule[]): void {
    this.#rules = rules;
    this.#since = new Date(now()).toISOString();
    this.changes.notify();
  }

  /** The first rule that applies to this call; undefined if none does. Counts down its `times`. */
  match(phone: string | undefined): Rule | undefined {
    const applied = this.#rules.find(
      (rule) =>
        (rule.phone === undefined || rule.phone === phone) && (rule.share === undefined || this.#random() < rule.share),
    );
    if (applied?.times !== undefined) {
      const { times } = applied;
      const left = times > 1 ? [{ ...applied, times: times - 1 }] : [];
      this.#rules = this.#rules.flatMap((rule) => (rule === applied ? left : [rule]));
      this.changes.notify();
    }
    return applied;
  }
}

/** Adds the routes below this path that read, set and remove the rules. */
export const addFaultRoutes = (routes: Routes, path: string, rulesOf: (c: RequestContext) => FaultRules): void => {
  routes.get(`${path}/behaviour`, (c) => c.json(rulesOf(c).rules));
  routes.put(`${path}/behaviour`, async (c) => {
    const faultRules = rulesOf(c);
    faultRules.set(parseJson(await c.req.text()));
    return c.json(faultRules.rules);
  });
  routes.delete(`${path}/behaviour`, (c) => {
    rulesOf(c).clear();
    return noContent();
  });
};

/** Adds the routes that set and remove the rules of one phone, and leave others as they are. */
export const addPhoneFaultRoutes = (routes: Routes, faultRules: FaultRules): void => {
  const path = '/phones/:phone/behaviour';
  routes.put(path, async (c) => {
    faultRules.setOf(c.req.param('phone'), parseJson(await c.req.text()));
    return c.json(faultRules.rules);
  });
  routes.delete(path, (c) => {
    faultRules.clearOf(c.req.param('phone'));
    return noContent();
  });
};
