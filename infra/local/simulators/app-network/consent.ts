/** Rules by which users answer user data requests automatically. Without a rule, a user does not answer. */
import * as v from 'valibot';
import { check, fields, oneOf, phone } from '../schemas.ts';

const answer = oneOf('approved', 'denied');

const rule = fields({
  /** The phone that the rule is for; default: every phone. */
  phone: v.exactOptional(phone),
  /** The answer for properties that are not listed below; without it, they stay open. */
  all: v.exactOptional(answer),
  /** Answers by property. */
  properties: v.exactOptional(v.record(v.string(), answer, 'must be an object')),
});

type ConsentRule = v.InferOutput<typeof rule>;

/** A user data request as a phone received it. */
interface RequestedProperty {
  to: string;
  properties: { property: string }[];
}

export class Consent {
  #rules: readonly ConsentRule[] = [];

  get rules(): readonly ConsentRule[] {
    return this.#rules;
  }

  /**
   * Replaces the rules: with one rule, or a list, of which the first that applies is used.
   *
   * @throws HTTPException — 422, a rule is invalid
   */
  set(input: unknown): void {
    this.#rules = Array.isArray(input) ? check(v.array(rule), input) : [check(rule, input)];
  }

  clear(): void {
    this.#rules = [];
  }

  /** The user's answers to a request; undefined if the user does not answer. */
  answersTo({ to, properties }: RequestedProperty): Record<string, 'approved' | 'denied'> | undefined {
    const applied = this.#rules.find((one) => one.phone === undefined || one.phone === to);
    const answers = properties.flatMap(({ property }): [string, 'approved' | 'denied'][] => {
      const given = applied?.properties?.[property] ?? applied?.all;
      return given === undefined ? [] : [[property, given]];
    });
    return answers.length === 0 ? undefined : Object.fromEntries(answers);
  }
}
