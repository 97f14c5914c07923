/** Why mutants stay that no test finds. */

interface Explanation {
  file: string;
  /** A piece of what the mutant changes. */
  code: string;
  /** Kinds of change that it holds for; all, where none is named. */
  mutators?: string[];
  reason: string;
}

export const explanations: Explanation[] = [];
