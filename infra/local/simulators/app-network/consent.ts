/** How users answer user data requests: as they are told, phone by phone. Nobody answers who is told nothing. */
import * as v from 'valibot';
import { check, fields, oneOf, phone } from '../schemas.ts';

const answer = oneOf('approved', 'denied');

const rule = fields({
  /** Whose phone; everybody's, where none is given. */
  phone: v.exactOptional(phone),
  /** What is answered to all that is asked; what is not named below stays open without it. */
  all: v.exactOptional(answer),
  /** What is answered to these. */
  properties: v.exactOptional(v.record(v.string(), answer, 'must be an object')),
});

type ConsentRule = v.InferOutput<typeof rule>;

/** What a request asks for, as it came to a phone. */
interface Asked {
  to: string;
  properties: { property: string }[];
}

export class Consent {
  #rules: readonly ConsentRule[] = [];

  get rules(): readonly ConsentRule[] {
    return this.#rules;
  }

  /**
   * Has users answer by this rule, or these, from now on: the first that applies.
   *
   * @throws HttpRefusal — 422, it is no rule
   */
  follow(input: unknown): void {
    this.#rules = Array.isArray(input) ? check(v.array(rule), input) : [check(rule, input)];
  }

  forget(): void {
    this.#rules = [];
  }

  /** The user's answers to a request; nothing, where the user does not answer. */
  answersTo({ to, properties }: Asked): Record<string, 'approved' | 'denied'> | undefined {
    const applied = this.#rules.find((one) => one.phone === undefined || one.phone === to);
    const answers = properties.flatMap(({ property }): [string, 'approved' | 'denied'][] => {
      const given = applied?.properties?.[property] ?? applied?.all;
      return given === undefined ? [] : [[property, given]];
    });
    return answers.length === 0 ? undefined : Object.fromEntries(answers);
  }
}
