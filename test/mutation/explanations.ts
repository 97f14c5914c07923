/** Why mutants stay that no test finds. */

export interface Explanation {
  /** A sentence. */
  reason: string;
  mutants: Stays[];
}

/** A file of `shared/`, what a mutant changes there, on one line, and what it puts there: anything, where that is left out. */
export type Stays = [file: string, code: string, replacement?: string];

export const explanations: Explanation[] = [
  {
    reason: 'It spares a call of the table, or memory, and nothing else; the tests of capacity count calls.',
    mutants: [
      ['jobs.ts', 'rows.size * MIN_ROW > MAX_ANSWER'],
      ['logs.ts', 'false', 'true'],
      ['logs.ts', 'Math.min(left, limit + 2)', 'Math.max(left, limit + 2)'],
      ['logs.ts', 'items.length < limit + 2', 'true'],
      ['logs.ts', 'items.length < limit + 2', 'items.length <= limit + 2'],
      ['outbox.ts', 'attempts !== undefined || gsi1sk <= sortableTime(now())', 'true'],
      ['waiting.ts', "due.filter((item) => item.sk === headKey('').sk)", 'due'],
      ['waiting.ts', "item.sk === headKey('').sk", 'true'],
      ['jobs.ts', 'entries.filter(({ counted }) => counted === undefined)', 'entries'],
      ['jobs.ts', 'counted === undefined', 'true'],
      ['messages.ts', 'idempotencyKey === undefined', 'false'],
      ['messages.ts', '!isNew', 'true'],
      ['delivery.ts', 'isBehind(head)', 'true'],
      ['delivery.ts', "'working'", '""'],
      ['user-data.ts', 'answers[property] !== undefined', 'true'],
      ['user-data.ts', 'failed.length === 0', 'false'],
      ['accounts.ts', 'released === undefined', 'false'],
    ],
  },
  {
    reason: 'It spares work, and nothing else.',
    mutants: [['text.ts', 'value.length <= count', 'value.length < count']],
  },
  {
    reason: 'A value that is undefined is left out of the table and of JSON.',
    mutants: [
      ['messages.ts', 'request !== undefined', 'true'],
      ['messages.ts', 'reason !== undefined', 'true'],
      ['personal-data.ts', 'completed !== undefined', 'true'],
      ['waiting.ts', 'head.cause !== undefined', 'true'],
      ['waiting.ts', 'head.retry_at !== undefined', 'true'],
      ['bucket.ts', 'AWS_SESSION_TOKEN !== undefined', 'true'],
    ],
  },
  {
    reason: 'Any word does that tells this from others.',
    mutants: [
      ['messages.ts', "'api'", '""'],
      ['messages.ts', "'sendMessage'", '""'],
      ['profilers.ts', "'createProfiler'", '""'],
    ],
  },
  {
    reason: 'The embedded table always reads what was written last; Amazon’s does not.',
    mutants: [
      ['messages.ts', 'true', 'false'],
      ['profilers.ts', 'true', 'false'],
      ['answers.ts', 'true', 'false'],
      ['told.ts', 'true', 'false'],
      ['waiting.ts', 'true', 'false'],
      ['personal-data.ts', 'true', 'false'],
    ],
  },
  {
    reason: 'It makes a key of which another part alone is looked at.',
    mutants: [
      ['backlog.ts', "''", '"Stryker was here!"'],
      ['profilers.ts', "''", '"Stryker was here!"'],
      ['erasure.ts', "''", '"Stryker was here!"'],
      ['waiting.ts', "''", '"Stryker was here!"'],
      ['grants.ts', "{ created: '', request: '' }", '{}'],
      ['kept-media.ts', "''", '"Stryker was here!"'],
      ['kept-media.ts', "{ created: '', id: '' }", '{}'],
      ['personal-data.ts', "''", '"Stryker was here!"'],
      ['answers.ts', "''", '"Stryker was here!"'],
      ['table/keys.ts', "''", '"Stryker was here!"'],
    ],
  },
  {
    reason: 'Whether the last one of its second, or a time that is exactly the present, counts: nobody can tell.',
    mutants: [
      ['jobs.ts', 'expires_at <= now() / 1000', 'expires_at < now() / 1000'],
      ['messages.ts', 'expires_at > now() / 1000', 'expires_at >= now() / 1000'],
      ['outbox.ts', 'gsi1sk <= sortableTime(now())', 'gsi1sk < sortableTime(now())'],
      ['delivery.ts', 'remaining() < RESERVE + wait', 'remaining() <= RESERVE + wait'],
      ['delivery.ts', 'remaining() < RESERVE', 'remaining() <= RESERVE'],
      ['delivery.ts', '(first.retryAfter ?? 0) > wait', '(first.retryAfter ?? 0) >= wait'],
      ['erasure.ts', 'created <= until', 'created < until'],
      ['erasure.ts', 'created <= end', 'created < end'],
    ],
  },
  {
    reason: 'Two of them are never equal, or which of two equal ones comes first makes no difference.',
    mutants: [
      ['clock.ts', 'made > id', 'made >= id'],
      ['logs.ts', 'a.position > b.position', 'a.position >= b.position'],
      ['messages.ts', 'a.created < b.created', 'a.created <= b.created'],
      ['profilers.ts', 'position(a) < position(b)', 'position(a) <= position(b)'],
      ['waiting.ts', 'a.since < b.since', 'a.since <= b.since'],
    ],
  },
  {
    reason: 'A limit is about so many bytes, far below what the table or Lambda takes: one more or less is none.',
    mutants: [
      [
        'jobs.ts',
        'Buffer.byteLength(JSON.stringify(sorted)) > MAX_ANSWER',
        'Buffer.byteLength(JSON.stringify(sorted)) >= MAX_ANSWER',
      ],
      ['profilers.ts', 'storedSize(item) > MAX_STORED', 'storedSize(item) >= MAX_STORED'],
      ['profilers.ts', 'size > MAX_PAGE', 'size >= MAX_PAGE'],
      [
        'profilers.ts',
        'Buffer.byteLength(JSON.stringify(profiler)) + 1',
        'Buffer.byteLength(JSON.stringify(profiler)) - 1',
      ],
    ],
  },
  {
    reason: 'No item holds such a value.',
    mutants: [
      ['profilers.ts', 'value !== null', 'true'],
      ['profilers.ts', 'index > 0'],
    ],
  },
  {
    reason: 'The names of job and payload type are as long, or sort before the state, with or without it.',
    mutants: [['jobs.ts', "'#'", '""']],
  },
  {
    reason: 'More events are taken one after the other than need be, and all of them as before.',
    mutants: [['app-events.ts', "type === 'message.received'"]],
  },
  {
    reason: 'The causes that there are have three digits at their end, or none.',
    mutants: [
      ['delivery.ts', '/^(status_\\d)\\d\\d$/', '/(status_\\d)\\d\\d$/'],
      ['delivery.ts', '/^(status_\\d)\\d\\d$/', '/^(status_\\d)\\d\\d/'],
    ],
  },
  {
    reason: 'The API description alone shows it, and the tests of that hold it.',
    mutants: [
      ['text.ts', '{ keywords }'],
      ['text.ts', "{ type: 'integer', minimum: least, maximum: most }"],
      ['text.ts', "'integer'"],
    ],
  },
  {
    reason: 'It is how long to wait between two attempts; no test looks at the time.',
    mutants: [
      ['wake-ups.ts', 'RETRY.pause * attempt', 'RETRY.pause / attempt'],
      ['table/client.ts', 'putOff.length > 0'],
      ['table/client.ts', 'Math.min(delay * 2, 2_000)'],
      ['table/client.ts', 'delay * 2'],
    ],
  },
  {
    reason: 'One round more finds nothing to do.',
    mutants: [
      ['wake-ups.ts', 'start < batches.length', 'start <= batches.length'],
      ['waiting.ts', 'start < items.length', 'start <= items.length'],
    ],
  },
  {
    reason: 'What stands there instead matches nothing either, or is refused as well.',
    mutants: [
      ['text.ts', "''", '"Stryker was here!"'],
      ['tokens.ts', '[]', '["Stryker was here"]'],
      ['http/multipart-body.ts', "''", '"Stryker was here!"'],
      ['http/media-headers.ts', "''", '"Stryker was here!"'],
      ['app-network.ts', "''", '"Stryker was here!"'],
      ['uploads.ts', "''", '"Stryker was here!"'],
      ['platforms/turn.ts', "''", '"Stryker was here!"'],
      ['user-data.ts', "''", '"Stryker was here!"'],
      ['waiting.ts', '[]', '["Stryker was here"]'],
      ['table/client.ts', '[]', '["Stryker was here"]'],
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
      ['jobs.ts', "''", '"Stryker was here!"'],
      ['bucket.ts', "''", '"Stryker was here!"'],
      ['jobs.ts', 'reached === undefined', 'false'],
      ['logs.ts', "''", '"Stryker was here!"'],
      ['logs.ts', 'shown.at(-1)?.position', 'shown.at(-1).position'],
      ['logs.ts', 'slices[0]?.end', 'slices[0].end'],
      ['messages.ts', 'first?.request', 'first.request'],
      ['messages.ts', "'#'", '""'],
      ['outbox.ts', "''", '"Stryker was here!"'],
      ['outbox.ts', 'late.item?.newest', 'late.item.newest'],
      ['accounts.ts', 'failed === 0', 'false'],
      ['table/stream.ts', 'dynamodb?.NewImage', 'dynamodb.NewImage'],
      ['table/stream.ts', 'dynamodb.NewImage?.trace_id?.S', 'dynamodb.NewImage?.trace_id.S'],
      ['table/stream.ts', '[]', '["Stryker was here"]'],
      ['http/request-log.ts', 'request.response?.statusCode', 'request.response.statusCode'],
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
    mutants: [['http/check-body.ts', "''", '"Stryker was here!"']],
  },
  {
    reason: 'Nothing is returned, which is no more true.',
    mutants: [['http/check-form.ts', '{ return false; }', '{}']],
  },
  {
    reason: 'The log holds the kind of an error, and not what it says: nobody ever reads that.',
    mutants: [['http/authorize.ts', "'The authorizer passed no identity on.'"]],
  },
  {
    reason: 'Nobody reads it where there is an error.',
    mutants: [['post.ts', '[]', '["Stryker was here"]']],
  },
  {
    reason: 'A value that is none fails the next check too.',
    mutants: [
      ['posting.ts', 'value === undefined', 'false'],
      ['logs.ts', 'end !== undefined', 'true'],
    ],
  },
  {
    reason: "It is Node's default.",
    mutants: [
      ['bucket.ts', "'GET'", '""'],
      ['post.ts', "'utf8'", '""'],
      ['http/check-body.ts', "'utf8'", '""'],
    ],
  },
  {
    reason: 'A page of the table that is full says itself that there may be more.',
    mutants: [['waiting.ts', 'items.length > COUNTED', 'false']],
  },
  {
    reason: 'The number ends at the next hyphen.',
    mutants: [['clock.ts', 'id.slice(0, 13)', 'id']],
  },
  {
    reason:
      'Whoever waits after an attempt that failed goes on when that wait is over: then the second half says so as well.',
    mutants: [['outbox.ts', 'attempts !== undefined']],
  },
  {
    reason: 'Brackets stand in a host only around it.',
    mutants: [['post.ts', '/^\\[|\\]$/g', '/^\\[|\\]/g']],
  },
];
