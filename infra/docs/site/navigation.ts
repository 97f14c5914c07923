/** The pages of the site, in the order and the groups of its sidebar. */
import { COMMANDS } from './commands.ts';

export interface Page {
  /** The file name in the site. */
  path: string;
  /** The heading of the page, and its name in the sidebar. */
  title: string;
  /** The guide in `infra/docs` that it shows. */
  guide: string;
  /**
   * The sections of the guide (headings of level 2) that it shows; `rest` for those that no other page shows. Default:
   * the whole guide.
   */
  sections?: readonly string[] | 'rest';
}

/** For whom pages are: everybody who uses the API, those who run it, or those who change it. */
export type Audience = 'users' | 'operators' | 'contributors';

export interface Group {
  title: string;
  audience: Audience;
  /** Whether its pages appear only while one of them is open. */
  folded?: boolean;
  pages: readonly Page[];
}

/** The page for addresses that lead to nothing. */
export const MISSING = { path: '404.html', title: 'Page not found' };

/** The page of the API reference. The site has one more for every guide, or part of a guide. */
export const REFERENCE = { path: 'reference.html', title: 'API reference' };

/** The path of the changelog, from the folder of the guides. */
export const CHANGELOG = '../../CHANGELOG.md';

const ofGuide = (guide: string) => (path: string, title: string, sections: readonly string[] | 'rest') => ({
  path: `${path}.html`,
  title,
  guide,
  sections,
});

const business = ofGuide('business.md');
const operator = ofGuide('operator.md');
const whole = (path: string, title: string, guide = `${path}.md`): Page => ({ path: `${path}.html`, title, guide });

export const groups: readonly Group[] = [
  {
    title: 'Start here',
    audience: 'users',
    pages: [
      whole('index', 'Overview', 'start/overview.md'),
      whole('quick-start', 'Quick start', 'start/quick-start.md'),
      whole('how-it-works', 'How it works', 'start/how-it-works.md'),
      business('states', 'States of a message', ['States of messages']),
    ],
  },
  {
    title: 'For businesses',
    audience: 'users',
    pages: [
      business('business', 'Requests and tokens', 'rest'),
      business('messages', 'Messages', ['Messages', 'Stop messages', 'Logs and jobs']),
      business('campaigns', 'Campaigns', ['Messages to many users']),
      business('user-data', 'User data and consent', ['User data', 'Users who stop your account', 'Who uses the app']),
      business('profilers', 'Profilers', ['Profilers']),
      business('media', 'Media', ['Media']),
      business('errors', 'Errors', ['Errors', 'Repeating a request']),
      whole('generate', 'Generate a client'),
    ],
  },
  {
    title: 'Connect a platform',
    audience: 'users',
    pages: [
      whole('rapidpro', 'RapidPro and TextIt', 'connect/rapidpro.md'),
      whole('turn', 'Turn', 'connect/turn.md'),
      business('webhook', 'Your own webhook', ['Your own webhook']),
      business('flows', 'Tests and flows', ['Connect a chat platform']),
      business('app-network', 'The app network', ['Events of the app network']),
    ],
  },
  {
    title: 'For operators',
    audience: 'operators',
    pages: [
      operator('deploy', 'Deploy', [
        'From an empty AWS account to production',
        'How commands find a deployment',
        'Doctor',
        'Smoke test',
        'Upgrade',
        'Remove the stack',
      ]),
      operator('accounts', 'Accounts and tokens', [
        'The first account',
        'Connect a chat platform',
        'Rotate a token',
        'Rotate a signing secret',
      ]),
      operator('alarms', 'Monitor', ['Monitor', 'Alarms']),
      whole('runbooks', 'Runbooks'),
      operator('command-line', 'Command line', [COMMANDS, "The operator's command", 'Who did what']),
      operator('restore', 'Restore', ['Restore the table']),
      operator('people', 'Users and their data', ['Users and their data', 'Media']),
      operator('operator', 'More for operators', 'rest'),
      whole('security', 'Security'),
      whole('failure-modes', 'Failure modes'),
    ],
  },
  {
    title: 'Tools for developers',
    audience: 'users',
    pages: [
      whole('trigger', 'Create events', 'tools/trigger.md'),
      whole('clock', 'Move the clock ahead', 'tools/clock.md'),
      whole('tail', 'Show log lines', 'tools/tail.md'),
      whole('listen', 'Receive webhook events', 'tools/listen.md'),
      whole('deliveries', 'Send webhook events again', 'tools/deliveries.md'),
      whole('rehearse', 'Predict a load', 'tools/rehearse.md'),
      whole('mcp', 'Give an agent the API: MCP', 'tools/mcp.md'),
    ],
  },
  {
    title: 'Project',
    audience: 'contributors',
    pages: [whole('changelog', 'Changelog', CHANGELOG)],
  },
  {
    title: 'For contributors',
    audience: 'contributors',
    folded: true,
    pages: [
      whole('contributor', 'Contribute'),
      whole('decisions', 'Decisions'),
      whole('wire-facts', 'Wire facts'),
      whole('performance', 'Performance and cost'),
      whole('load', 'Load'),
      whole('glossary', 'Glossary'),
    ],
  },
];

export const pages: readonly Page[] = groups.flatMap((group) => group.pages);

/** @throws Error — no group has a page with this path */
export const audienceOf = (path: string): Audience => {
  const group = groups.find((one) => one.pages.some((page) => page.path === path));
  if (group === undefined) throw new Error(`There is no page ${path}.`);
  return group.audience;
};
