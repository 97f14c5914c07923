/**
 * The tests that mutants are held against, in projects of Vitest's: each has a process of its own, which is kept. Which
 * of them look at which sources is written down, so that a part of the sources can be tried with a part of the tests.
 */
import type { TestProjectInlineConfiguration } from 'vitest/config';

/** Tests that look at the domain in a table of their own, or through the operator's command. */
const domain = [
  'accounts',
  'circuit',
  'clock-skew',
  'delivery',
  'delivery-log',
  'erasure',
  'jobs',
  'logs',
  'lost-answers',
  'media-bucket',
  'message-story',
  'operator',
  'operator-messages',
  'operator-platform',
  'operator-platform-check',
  'operator-stats',
  'operator-user',
  'platform-delivery',
  'redelivery',
  'retention',
  'user-data-registered-again',
  'user-data-story',
  'waiting',
];

/** Tests that send requests to the stack. */
const served = [
  'answers',
  'app-events',
  'authorizer',
  'errors',
  'following',
  'log',
  'media',
  'messages',
  'operator-media',
  'path-token',
  'profilers',
  'rapidpro',
  'test-message',
  'turn',
  'user-data',
];

/** Tests that take many seconds without a mutant. */
const LEFT_OUT = ['may hold 100 events', 'of 4 MB', 'takes a body of up to 6 MB', 'draws a bar on a terminal'];

/** Groups of tests that need a stack which runs its functions in threads. */
const GROUPS_LEFT_OUT = ['on the served stack', 'on the local stack'];

/** What is matched by the names of all tests but those. */
export const namePattern = new RegExp(`^(?!(?:${GROUPS_LEFT_OUT.join('|')}) |.*(?:${LEFT_OUT.join('|')}))`);

interface Area {
  sources: RegExp;
  /** Stack tests. Unit tests look at all sources. */
  tests: string[];
}

const areas: Area[] = [
  { sources: /^shared\/(profilers|answers)\.ts$/, tests: ['profilers', 'answers'] },
  {
    sources: /^shared\/(messages|app-events|logs|jobs|idempotency)\.ts$/,
    tests: [
      'messages',
      'message-story',
      'app-events',
      'test-message',
      'logs',
      'jobs',
      'rapidpro',
      'turn',
      'operator-messages',
      'operator-stats',
      'delivery',
      'redelivery',
      'retention',
      'clock-skew',
    ],
  },
  {
    sources:
      /^shared\/(delivery|circuit|outbox|waiting|told|app-network|due|receivers?|post|posting|exchange|connections|wake-ups|outcome)\.ts$/,
    tests: [
      'circuit',
      'delivery',
      'delivery-log',
      'lost-answers',
      'platform-delivery',
      'operator-messages',
      'operator-platform-check',
      'rapidpro',
      'redelivery',
      'retention',
      'clock-skew',
      'user-data-story',
      'waiting',
    ],
  },
  {
    sources: /^shared\/(user-data|users|grants|properties|personal-data|erasure)\.ts$/,
    tests: [
      'user-data',
      'user-data-story',
      'erasure',
      'operator-user',
      'user-data-registered-again',
      'clock-skew',
      'retention',
    ],
  },
  {
    sources: /^shared\/(media|uploads|bucket|kept-media)\.ts$/,
    tests: ['media', 'media-bucket', 'messages', 'operator-media'],
  },
  {
    sources: /^shared\/(accounts|tokens|permissions)\.ts$/,
    tests: ['accounts', 'operator', 'operator-platform', 'authorizer', 'path-token'],
  },
  {
    sources: /^shared\/table\//,
    tests: [
      'accounts',
      'answers',
      'circuit',
      'clock-skew',
      'delivery-log',
      'erasure',
      'jobs',
      'logs',
      'message-story',
      'operator-media',
      'operator-user',
      'platform-delivery',
      'profilers',
      'redelivery',
      'user-data-story',
    ],
  },
  { sources: /^shared\/platforms\//, tests: ['rapidpro', 'turn', 'platform-delivery', 'operator-platform'] },
  {
    sources: /^shared\/(http\/.*|problems|faults|contacts|settings|clock|log|trace|metrics|backlog|worker)\.ts$/,
    tests: ['log', 'following', 'errors', 'authorizer', 'path-token', 'profilers', 'answers', 'media', 'jobs', 'logs'],
  },
];

/** Whether a test looks at one of these sources; both are paths from the root. */
export const concerns = (test: string, sources: string[]): boolean => {
  const name = /^test\/stack\/(.*)\.test\.ts$/.exec(test)?.[1];
  if (name === undefined) return true;
  return areas.some(({ tests, sources: of }) => tests.includes(name) && sources.some((source) => of.test(source)));
};

const files = (names: string[]): string[] => names.map((name) => `test/stack/${name}.test.ts`);

const anew = 'test/mutation/anew.ts';
const attach = 'test/mutation/attach.ts';
const provide = 'test/mutation/provide.ts';

export const projects: TestProjectInlineConfiguration[] = [
  { extends: true, test: { name: 'unit', include: ['test/unit/**/*.test.ts'], setupFiles: [anew, attach] } },
  {
    extends: true,
    test: {
      name: 'domain',
      include: files(domain),
      globalSetup: provide,
      setupFiles: [anew, attach, 'test/stack/support/use-table.ts'],
    },
  },
  {
    extends: true,
    test: {
      name: 'served',
      include: files(served),
      globalSetup: provide,
      setupFiles: [attach, 'test/mutation/serve-here.ts'],
    },
  },
];
