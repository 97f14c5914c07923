/** Fault injection: the rules by which a simulator answers calls otherwise than normal. */
import * as v from 'valibot';
import { noContent, parseJson } from './http.ts';
import { check, fields, phone, wholeNumber, yes } from './schemas.ts';
import type { RequestContext, Routes } from './server.ts';

/** A longer delay is no answer: `hang`. In milliseconds. */
const LONGEST_DELAY = 600_000;

const share = 'must be a number from 0 to 1';

const rule = v.pipe(
  fields({
    status: v.exactOptional(wholeNumber(200, 599)),
    delay_ms: v.exactOptional(wholeNumber(0, LONGEST_DELAY)),
    /** Closes the connection without an answer. */
    drop: v.exactOptional(yes),
    /** Never answers. */
    hang: v.exactOptional(yes),
    /** What is dropped or hangs is taken all the same: its answer is lost. */
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

/** An answer, and the calls that get it. */
export type Rule = v.InferOutput<typeof rule>;

export class FaultRules {
  readonly #random: () => number;
  #rules: readonly Rule[] = [];

  /** @param random - rolls a number from 0 to below 1 */
  constructor(random: () => number) {
    this.#random = random;
  }

  /** What still applies to calls to come. None is the normal answer to all of them. */
  get rules(): readonly Rule[] {
    return this.#rules;
  }

  /**
   * Follows this rule, or these, instead of those before.
   *
   * @throws HTTPException — 422, it is no rule
   */
  follow(input: unknown): void {
    this.#rules = Array.isArray(input) ? check(v.array(rule), input) : [check(rule, input)];
  }

  forget(): void {
    this.#rules = [];
  }

  /** The first rule that applies to this call; it has one time less from now on. */
  ruleFor(phone: string | undefined): Rule {
    const applied = this.#rules.find(
      (rule) =>
        (rule.phone === undefined || rule.phone === phone) && (rule.share === undefined || this.#random() < rule.share),
    );
    this.#rules = this.#rules.flatMap((rule) => {
      if (rule !== applied || rule.times === undefined) return [rule];
      return rule.times > 1 ? [{ ...rule, times: rule.times - 1 }] : [];
    });
    return applied ?? {};
  }
}

/** Serves the rules below this path: people read, set and remove them. */
export const addFaultRoutes = (routes: Routes, path: string, rulesOf: (c: RequestContext) => FaultRules): void => {
  routes.get(`${path}/behaviour`, (c) => c.json(rulesOf(c).rules));
  routes.put(`${path}/behaviour`, async (c) => {
    const faultRules = rulesOf(c);
    faultRules.follow(parseJson(await c.req.text()));
    return c.json(faultRules.rules);
  });
  routes.delete(`${path}/behaviour`, (c) => {
    rulesOf(c).forget();
    return noContent();
  });
};
