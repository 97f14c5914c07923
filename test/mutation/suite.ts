/**
 * The tests that mutants are held against, in projects of Vitest's: each has a process of its own, which is kept. Which
 * of them look at which sources is written down, so that a part of the sources can be tried with a part of the tests.
 */
import type { TestProjectInlineConfiguration } from 'vitest/config';
import { LOCAL_STACK } from '../../infra/local/runtime/condition.ts';

/** Tests that look at the domain in a table of their own, or through the operator's command. */
const domain = [
  'operator/accounts',
  'app/events-contention',
  'delivery/circuit',
  'table/clock-skew',
  'delivery/delivery',
  'stats/delivery-log',
  'user-data/erasure',
  'table/expiry',
  'stats/jobs',
  'stats/logs',
  'delivery/lost-answers',
  'media/bucket',
  'messages/story',
  'stats/midnight',
  'operator/command',
  'operator/messages',
  'operator/number',
  'operator/platform',
  'operator/platform-check',
  'operator/stats',
  'operator/user',
  'bridge/platform-delivery',
  'bridge/rapidpro-pauses',
  'bridge/rapidpro-stopped',
  'delivery/redelivery',
  'table/retention',
  'user-data/races',
  'user-data/registered-again',
  'user-data/story',
  'delivery/waiting',
];

/** Tests that send requests to the stack. */
const served = [
  'profilers/answers',
  'app/events',
  'app/events-order',
  'app/events-time',
  'every-endpoint/authorizer',
  'every-endpoint/errors',
  'every-endpoint/tracing',
  'table/ids',
  'every-endpoint/log',
  'media/media',
  'messages/send',
  'operator/media',
  'bridge/path-token',
  'profilers/profilers',
  'bridge/rapidpro',
  'bridge/test-message',
  'bridge/turn',
  'user-data/requests',
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

const events = ['app/events', 'app/events-contention', 'app/events-order', 'app/events-time'];
const deliveries = [
  'delivery/circuit',
  'table/clock-skew',
  'delivery/delivery',
  'stats/delivery-log',
  'delivery/lost-answers',
  'operator/messages',
  'operator/platform-check',
  'bridge/platform-delivery',
  'bridge/rapidpro',
  'bridge/rapidpro-pauses',
  'bridge/rapidpro-stopped',
  'delivery/redelivery',
  'table/retention',
  'user-data/story',
  'delivery/waiting',
];
const people = [
  'table/clock-skew',
  'user-data/erasure',
  'table/expiry',
  'operator/user',
  'table/retention',
  'user-data/requests',
  'user-data/races',
  'user-data/registered-again',
  'user-data/story',
];

const areas: Area[] = [
  { sources: /^shared\/profilers\//, tests: ['profilers/profilers', 'profilers/answers', 'every-endpoint/errors'] },
  {
    sources: /^shared\/(messaging|stats|validation)\//,
    tests: [
      ...events,
      'messages/send',
      'messages/story',
      'stats/midnight',
      'bridge/test-message',
      'stats/logs',
      'stats/jobs',
      'table/ids',
      'bridge/rapidpro',
      'bridge/turn',
      'operator/messages',
      'operator/stats',
      'delivery/delivery',
      'delivery/redelivery',
      'bridge/rapidpro-pauses',
      'table/retention',
      'table/clock-skew',
    ],
  },
  {
    sources: /^shared\/(app-network|users)\/|state-reports/,
    tests: [
      ...events,
      'user-data/erasure',
      'table/expiry',
      'messages/send',
      'delivery/redelivery',
      'table/retention',
      'user-data/races',
      'bridge/rapidpro-stopped',
    ],
  },
  {
    sources: /^shared\/(delivery|outbound|messaging)\//,
    tests: deliveries,
  },
  { sources: /^shared\/(user-data|users)\//, tests: people },
  {
    sources: /^shared\/media\//,
    tests: ['media/media', 'media/bucket', 'messages/send', 'operator/media'],
  },
  {
    sources: /^shared\/accounts\//,
    tests: [
      'operator/accounts',
      'operator/command',
      'operator/number',
      'operator/platform',
      'every-endpoint/authorizer',
      'bridge/path-token',
    ],
  },
  {
    sources: /^shared\/table\//,
    tests: [
      'operator/accounts',
      'profilers/answers',
      'app/events-contention',
      'delivery/circuit',
      'table/clock-skew',
      'stats/delivery-log',
      'user-data/erasure',
      'stats/jobs',
      'stats/logs',
      'messages/story',
      'operator/media',
      'operator/user',
      'bridge/platform-delivery',
      'profilers/profilers',
      'delivery/redelivery',
      'user-data/story',
    ],
  },
  {
    sources: /^shared\/platforms\//,
    tests: [
      'bridge/rapidpro',
      'bridge/rapidpro-pauses',
      'bridge/rapidpro-stopped',
      'bridge/turn',
      'bridge/platform-delivery',
      'operator/platform',
    ],
  },
  {
    sources: /^shared\/(api|core|http|telemetry)\//,
    tests: [
      'every-endpoint/log',
      'every-endpoint/tracing',
      'every-endpoint/errors',
      'every-endpoint/authorizer',
      'bridge/path-token',
      'profilers/profilers',
      'profilers/answers',
      'media/media',
      'messages/send',
      'bridge/rapidpro',
      'stats/jobs',
      'stats/logs',
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
