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
      ['http/multipart-body.ts', "''", '"Stryker was here!"'],
      ['http/media-headers.ts', "''", '"Stryker was here!"'],
      ['backlog.ts', "''", '"Stryker was here!"'],
      ['text.ts', '/^[1-9]\\d{3}-\\d\\d-\\d\\d$/'],
    ],
  },
  {
    reason: 'It never comes to that: the compiler alone asks what would be then.',
    mutants: [
      ['contacts.ts', "''", '"Stryker was here!"'],
      ['faults.ts', "''", '"Stryker was here!"'],
      ['http/request.ts', "''", '"Stryker was here!"'],
      ['http/request-log.ts', 'request.response?.statusCode', 'request.response.statusCode'],
      ['http/request-log.ts', 'start === undefined', 'false'],
    ],
  },
  {
    reason: 'Other endpoints have no parameter of that name.',
    mutants: [
      ['http/endpoint.ts', "description.routes.some(({ path }) => path.endsWith('/'))", 'true'],
      ['http/endpoint.ts', "path.endsWith('/')"],
      ['http/endpoint.ts', "'/'"],
    ],
  },
  {
    reason: 'A request without a body is refused by its parser.',
    mutants: [['http/raw-body.ts', "''", '"Stryker was here!"']],
  },
  {
    reason: 'Nothing is returned, which is no more true.',
    mutants: [['http/raw-body.ts', '{ return false; }', '{}']],
  },
  {
    reason: 'The log holds the kind of an error, and not what it says: nobody ever reads that.',
    mutants: [['http/authorize.ts', "'The authorizer passed no identity on.'"]],
  },
  {
    reason: 'The one that made it sorts before it: they are never equal.',
    mutants: [['clock.ts', 'made > id', 'made >= id']],
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
    mutants: [
      ['post.ts', "'utf8'", '""'],
      ['http/raw-body.ts', "'utf8'", '""'],
    ],
  },
  {
    reason: 'Brackets stand in a host only around it.',
    mutants: [['post.ts', '/^\\[|\\]$/g', '/^\\[|\\]/g']],
  },
];
