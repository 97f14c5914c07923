/** Why mutants stay that no test finds. */

export interface Explanation {
  /** A sentence. */
  reason: string;
  mutants: Stays[];
}

/** A file of `shared/`, a piece of what a mutant changes there, and what it puts there; anything, where that is left out. */
export type Stays = [file: string, code: string, replacement?: string];

export const explanations: Explanation[] = [
  {
    reason: 'The API description alone shows it, and the tests of that hold it.',
    mutants: [
      ['text.ts', '{ keywords }'],
      ['text.ts', "{ type: 'integer', minimum: least, maximum: most }"],
      ['text.ts', "'integer'"],
    ],
  },
  {
    reason: 'It spares work, and nothing else.',
    mutants: [
      ['text.ts', 'value.length <= count', 'false'],
      ['text.ts', 'value.length <= count', 'value.length < count'],
    ],
  },
  {
    reason: 'It is how long to wait between two attempts; no test looks at the time.',
    mutants: [['wake-ups.ts', 'RETRY.pause * attempt', 'RETRY.pause / attempt']],
  },
  {
    reason: 'One round more finds nothing to do.',
    mutants: [['wake-ups.ts', 'start < batches.length', 'start <= batches.length']],
  },
  {
    reason: 'What stands there instead matches nothing either, or is refused as well.',
    mutants: [
      ['text.ts', "''", '"Stryker was here!"'],
      ['tokens.ts', '[]', '["Stryker was here"]'],
      ['text.ts', '/^[1-9]\\d{3}-\\d\\d-\\d\\d$/'],
    ],
  },
  {
    reason: 'Nobody reads it where there is an error.',
    mutants: [['post.ts', '[]', '["Stryker was here"]']],
  },
  {
    reason: 'A value that is none fails the next check too.',
    mutants: [['posting.ts', 'value === undefined', 'false']],
  },
  {
    reason: "It is Node's default.",
    mutants: [['post.ts', "'utf8'", '""']],
  },
  {
    reason: 'Brackets stand in a host only around it.',
    mutants: [['post.ts', '/^\\[|\\]$/g', '/^\\[|\\]/g']],
  },
];
