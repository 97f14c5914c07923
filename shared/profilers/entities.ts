/** The rows about research profilers, answers and results. */

import type { AnyItem, Entity } from '../table/entity.ts';
import { after, deletionKey, type Key, key } from '../table/keys.ts';

const PROFILERS = 'PROFILERS#';
const PROFILER = 'PROFILER#';
const ANSWERABLE = 'ANSWERABLE#';
const IDEMPOTENCY = 'IDEMPOTENCY#';

/** The partition of an account's profilers, and of their idempotency keys. */
export const profilersOf = (account: string): string => `${PROFILERS}${account}`;

/** A profiler. An account's profilers are in one partition, oldest first: ids sort by age. */
export const profilerKey = (account: string, profiler: string): Key =>
  key(profilersOf(account), `${PROFILER}${profiler}`);

/** The id of the profiler at this key. */
export const profilerIdOf = ({ sk }: Key): string => sk.slice(PROFILER.length);

/** The small item by which answers to a profiler are checked. It is in the same partition. */
export const answerableKey = (account: string, profiler: string): Key =>
  key(profilersOf(account), `${ANSWERABLE}${profiler}`);

/** The partition and the range of sort keys of an account's profilers, after a given profiler or from the first one. */
export const profilersAfter = (account: string, profiler: string | undefined) => ({
  pk: profilersOf(account),
  from: profilerKey(account, profiler === undefined ? '' : `${profiler}~`).sk,
  to: profilerKey(account, '~').sk,
});

/** The idempotency key of a created profiler: in the partition of profilers, outside their range of sort keys. */
export const profilerOfKey = (account: string, hash: string): Key => key(profilersOf(account), `${IDEMPOTENCY}${hash}`);

const ANSWERS = 'ANSWERS#';
const ANSWER = 'ANSWER#';

/** The partition of a profiler's answers. */
export const answersOf = (profiler: string): string => `${ANSWERS}${profiler}`;

/** A panelist's answer. */
export const answerKey = (profiler: string, phone: string): Key => key(answersOf(profiler), `${ANSWER}${phone}`);

/** Whether a key is that of an answer. */
export const isAnswerKey = ({ pk }: Pick<Key, 'pk'>): boolean => pk.startsWith(ANSWERS);

/** The id of an answer's profiler, by the key of the answer. */
export const answeredProfilerOf = (answer: Key): string => after(ANSWERS, answer);

const RESULTS = 'RESULTS#';

const OPTION = 'OPTION#';

/** The partition of a profiler's results: a counter for each option. */
export const resultsOf = (profiler: string): string => `${RESULTS}${profiler}`;

/** How many panelists have chosen an option: one shard of the counter. */
export const resultKey = (profiler: string, option: string, shard: number): Key =>
  key(resultsOf(profiler), `${OPTION}${option}#${shard}`);

/** The id of the option, by the key of its counter. */
export const optionOfResult = ({ sk }: Key): string => sk.slice(OPTION.length).split('#', 1)[0] ?? '';

/** The id of the profiler, by the key of a counter. */
const profilerOfResult = (result: Pick<Key, 'pk'>): string => after(RESULTS, result);

const accountInKey = ({ pk }: AnyItem): string => after(PROFILERS, { pk });

const profiler = {
  name: 'profiler',
  pk: PROFILERS,
  sk: PROFILER,
  account: accountInKey,
  restore: 'missing',
  deletion: (item) => deletionKey('profiler', profilerIdOf(item)),
  expires: 'some',
  person: 'none',
  access: {
    putProfiler: 'PutItem',
    /** Also the small item by which answers are checked. */
    findProfiler: 'GetItem',
    listProfilers: 'Query',
    markProfilerDeleted: 'UpdateItem',
    removeAnswerable: 'DeleteItem',
  },
} as const satisfies Entity;

const answerable = {
  name: 'options of a profiler',
  pk: PROFILERS,
  sk: ANSWERABLE,
  account: accountInKey,
  restore: 'missing',
  deletion: ({ sk }) => deletionKey('profiler', sk.slice(ANSWERABLE.length)),
  expires: false,
  person: 'none',
  access: {},
} as const satisfies Entity;

const profilerIdempotencyKey = {
  name: 'idempotency key of a profiler',
  pk: PROFILERS,
  sk: IDEMPOTENCY,
  account: accountInKey,
  restore: 'missing',
  deletion: (item) => deletionKey('profiler', String(item.id)),
  expires: 'some',
  person: 'none',
  access: {},
} as const satisfies Entity;

const answer = {
  name: 'answer',
  pk: ANSWERS,
  sk: ANSWER,
  profiler: answeredProfilerOf,
  restore: 'missing',
  deletion: (item) => deletionKey('profiler', answeredProfilerOf(item)),
  expires: false,
  person: { erasure: 'removed', phone: ({ sk }) => sk.slice(ANSWER.length), exported: 'answers' },
  access: {
    putAnswer: 'PutItem',
    listAnswers: 'Query',
    findAnswer: 'GetItem',
    markAnswer: 'UpdateItem',
    removeAnswer: 'DeleteItem',
    removeAnswers: 'BatchWriteItem',
  },
} as const satisfies Entity;

const result = {
  name: 'results of a profiler',
  pk: RESULTS,
  sk: OPTION,
  profiler: profilerOfResult,
  restore: 'missing',
  deletion: (item) => deletionKey('profiler', profilerOfResult(item)),
  expires: false,
  person: 'none',
  access: { addToResults: 'UpdateItem', listResults: 'Query', removeResults: 'BatchWriteItem' },
} as const satisfies Entity;

export const profilerEntities = [profiler, answerable, profilerIdempotencyKey, answer, result] as const;
