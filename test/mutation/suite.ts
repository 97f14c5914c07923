/**
 * The tests that mutants are held against, in projects of Vitest's: each has a process of its own, which is kept. Which
 * of them look at which sources is written down, so that a part of the sources can be tried with a part of the tests.
 */
import type { TestProjectInlineConfiguration } from 'vitest/config';
import { LOCAL_STACK } from '../../infra/local/runtime/condition.ts';

/** Tests that look at the domain in a table of their own, or through the operator's command. */
const domain = [
  'accounts',
  'app-events-contention',
  'circuit',
  'clock-skew',
  'delivery',
  'delivery-log',
  'erasure',
  'expiry',
  'jobs',
  'logs',
  'lost-answers',
  'media-bucket',
  'message-story',
  'midnight',
  'operator',
  'operator-messages',
  'operator-number',
  'operator-platform',
  'operator-platform-check',
  'operator-stats',
  'operator-user',
  'platform-delivery',
  'rapidpro-pauses',
  'rapidpro-stopped',
  'redelivery',
  'retention',
  'user-data-races',
  'user-data-registered-again',
  'user-data-story',
  'waiting',
];

/** Tests that send requests to the stack. */
const served = [
  'answers',
  'app-events',
  'app-events-order',
  'app-events-time',
  'authorizer',
  'errors',
  'following',
  'ids',
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

const events = ['app-events', 'app-events-contention', 'app-events-order', 'app-events-time'];
const deliveries = [
  'circuit',
  'clock-skew',
  'delivery',
  'delivery-log',
  'lost-answers',
  'operator-messages',
  'operator-platform-check',
  'platform-delivery',
  'rapidpro',
  'rapidpro-pauses',
  'rapidpro-stopped',
  'redelivery',
  'retention',
  'user-data-story',
  'waiting',
];
const people = [
  'clock-skew',
  'erasure',
  'expiry',
  'operator-user',
  'retention',
  'user-data',
  'user-data-races',
  'user-data-registered-again',
  'user-data-story',
];

const areas: Area[] = [
  { sources: /^shared\/profilers\//, tests: ['profilers', 'answers', 'errors'] },
  {
    sources: /^shared\/(messaging|stats|validation)\//,
    tests: [
      ...events,
      'messages',
      'message-story',
      'midnight',
      'test-message',
      'logs',
      'jobs',
      'ids',
      'rapidpro',
      'turn',
      'operator-messages',
      'operator-stats',
      'delivery',
      'redelivery',
      'rapidpro-pauses',
      'retention',
      'clock-skew',
    ],
  },
  {
    sources: /^shared\/(app-network|users)\/|state-reports/,
    tests: [
      ...events,
      'erasure',
      'expiry',
      'messages',
      'redelivery',
      'retention',
      'user-data-races',
      'rapidpro-stopped',
    ],
  },
  {
    sources: /^shared\/(delivery|outbound|messaging)\//,
    tests: deliveries,
  },
  { sources: /^shared\/(user-data|users)\//, tests: people },
  {
    sources: /^shared\/media\//,
    tests: ['media', 'media-bucket', 'messages', 'operator-media'],
  },
  {
    sources: /^shared\/accounts\//,
    tests: ['accounts', 'operator', 'operator-number', 'operator-platform', 'authorizer', 'path-token'],
  },
  {
    sources: /^shared\/table\//,
    tests: [
      'accounts',
      'answers',
      'app-events-contention',
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
  {
    sources: /^shared\/platforms\//,
    tests: ['rapidpro', 'rapidpro-pauses', 'rapidpro-stopped', 'turn', 'platform-delivery', 'operator-platform'],
  },
  {
    sources: /^shared\/(api|core|http|telemetry)\//,
    tests: [
      'log',
      'following',
      'errors',
      'authorizer',
      'path-token',
      'profilers',
      'answers',
      'media',
      'messages',
      'rapidpro',
      'jobs',
      'logs',
    ],
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

/** Vite loads the sources, so it has the condition under which Node loads them for all other tests. */
const vite = {
  extends: true,
  ssr: { resolve: { conditions: ['module', 'node', 'development|production', LOCAL_STACK] } },
} as const satisfies TestProjectInlineConfiguration;

export const projects: TestProjectInlineConfiguration[] = [
  { ...vite, test: { name: 'unit', include: ['test/unit/**/*.test.ts'], setupFiles: [anew, attach] } },
  {
    ...vite,
    test: {
      name: 'domain',
      include: files(domain),
      globalSetup: provide,
      setupFiles: [anew, attach, 'test/stack/support/use-table.ts'],
    },
  },
  {
    ...vite,
    test: {
      name: 'served',
      include: files(served),
      globalSetup: provide,
      setupFiles: [attach, 'test/mutation/serve-here.ts'],
    },
  },
];
