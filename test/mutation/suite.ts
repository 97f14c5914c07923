/**
 * The tests for mutants, in Vitest projects with one kept process each. `areas` lists the tests of each source folder,
 * so that a mutant runs only with the tests of its folder.
 */
import type { TestProjectInlineConfiguration } from 'vitest/config';
import { LOCAL_STACK } from '../../infra/local/runtime/condition.ts';

/** Tests that call the domain with a separate table, or run the operator's command. */
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
  'campaigns/ended',
  'campaigns/expand',
  'delivery/early-ends',
  'delivery/reason-codes',
  'messages/capacity',
  'operator/consent-webhook',
  'operator/import',
  'operator/jobs',
  'operator/suspension',
  'opt-outs/any-order',
  'opt-outs/opt-outs',
  'profilers/results',
  'stats/job-status',
  'user-data/consent',
  'user-data/consent-any-order',
  'user-data/more-properties',
  'user-data/wait-slots',
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
  'account/account',
  'campaigns/send',
  'every-endpoint/rate-limit',
  'jobs/cancel',
  'jobs/read',
  'messages/read',
  'opt-outs/served',
  'profilers/audience',
  'profilers/returned-answers',
  'user-data/consent-served',
  'user-data/long-poll',
  'users/contacts',
  'users/read',
];

/** Parts of the names of tests that take many seconds without a mutant. */
const EXCLUDED = [
  'of 100 events of many users',
  'of 4 MB',
  'accepts 5.9 MB in a body',
  'draws a bar on a terminal',
  'in many more orders',
  '\\d races\\)',
];

/** Names of test groups that need a stack whose functions run in threads. */
const EXCLUDED_GROUPS = ['on the served stack', 'on the local stack'];

/** Matches the names of all other tests. */
export const namePattern = new RegExp(`^(?!(?:${EXCLUDED_GROUPS.join('|')}) |.*(?:${EXCLUDED.join('|')}))`);

interface Area {
  sources: RegExp;
  /** Stack tests. Unit tests run for all sources. */
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
  'delivery/early-ends',
  'delivery/reason-codes',
  'campaigns/ended',
  'operator/suspension',
  'opt-outs/opt-outs',
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
  'user-data/consent',
  'user-data/consent-any-order',
  'user-data/consent-served',
  'user-data/more-properties',
  'user-data/long-poll',
  'user-data/wait-slots',
  'operator/consent-webhook',
  'users/contacts',
  'users/read',
  'opt-outs/served',
];

const campaigns = [
  'campaigns/ended',
  'campaigns/expand',
  'campaigns/send',
  'jobs/cancel',
  'jobs/read',
  'delivery/early-ends',
  'messages/read',
  'messages/send',
  'messages/capacity',
  'operator/jobs',
  'stats/job-status',
];

const areas: Area[] = [
  {
    sources: /^shared\/profilers\//,
    tests: [
      'profilers/profilers',
      'profilers/answers',
      'profilers/audience',
      'profilers/results',
      'profilers/returned-answers',
      'every-endpoint/errors',
    ],
  },
  { sources: /^shared\/(campaigns|jobs|wake-ups|messaging|stats)\//, tests: campaigns },
  {
    sources: /^shared\/opt-outs\//,
    tests: ['opt-outs/opt-outs', 'opt-outs/served', 'opt-outs/any-order', 'bridge/rapidpro-stopped', 'app/events'],
  },
  { sources: /^shared\/rate-limit\//, tests: ['every-endpoint/rate-limit', 'every-endpoint/errors'] },
  {
    sources: /^shared\/customers\//,
    tests: ['users/contacts', 'users/read', 'account/account', 'operator/import', 'opt-outs/served'],
  },
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
      'operator/suspension',
      'account/account',
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

/** Whether a test must run for one of these sources. Both are paths from the root. */
export const concerns = (test: string, sources: string[]): boolean => {
  const name = /^test\/stack\/(.*)\.test\.ts$/.exec(test)?.[1];
  if (name === undefined) return true;
  return areas.some(({ tests, sources: of }) => tests.includes(name) && sources.some((source) => of.test(source)));
};

const files = (names: string[]): string[] => names.map((name) => `test/stack/${name}.test.ts`);

const anew = 'test/mutation/anew.ts';
const attach = 'test/mutation/attach.ts';
const provide = 'test/mutation/provide.ts';

/** Vite loads the sources here, so it needs the export condition that Node has in all other tests. */
const vite = {
  extends: true,
  ssr: { resolve: { conditions: ['node', 'development|production', LOCAL_STACK] } },
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
