/** The phone: a page of the simulated app network where a person is the app's user, and sees what the service does. */
import { catalogue } from '../../../shared/users/profile-properties.ts';
import { type Demo, demoBots } from '../demo.ts';
import { Changes } from '../simulators/changes.ts';
import { json, parseJson, type Reply } from '../simulators/http.ts';
import { check, fields, phone as phoneNumber } from '../simulators/schemas.ts';
import type { Routes } from '../simulators/server.ts';
import type { Outside } from '../simulators/simulators.ts';
import { AccessLog } from './access-log.ts';
import { Business } from './business.ts';
import { phonesOf, phoneViewOf } from './conversation.ts';
import { jobsOfToday } from './funnel.ts';
import { feedOf } from './live.ts';
import { makePage, type PageFiles } from './page-files.ts';
import { deliveriesOf, platformsOf } from './traffic.ts';
import type { Setup } from './views.ts';

interface Service {
  baseUrl: string;
  bridgeUrl: string;
}

/** What a request to the business names. */
const whom = fields({ phone: phoneNumber });

export class Phone {
  readonly #outside: Outside;
  readonly #log = new AccessLog();
  readonly #requests = new Changes();
  readonly #funnel = new Changes();
  #files: Promise<PageFiles> | undefined;

  constructor(outside: Outside) {
    this.#outside = outside;
  }

  /** Takes the log lines of the stack: they tell of requests, and of messages that were counted. */
  readonly onLine = (line: string): void => {
    const entry = parsed(line);
    if (this.#log.note(entry)) this.#requests.note();
    else if (isCount(entry)) this.#funnel.note();
  };

  /** Serves the page from now on, at the app network's address. */
  serve(service: Service, demo: Demo): void {
    this.#outside.app.serve({ ...this.#pageRoutes(service), ...this.#viewRoutes(service, demo) });
  }

  #pageRoutes({ bridgeUrl }: Service): Routes {
    const files = (): Promise<PageFiles> => {
      this.#files ??= makePage();
      return this.#files;
    };
    const { app } = this.#outside;
    return {
      'GET /': async ({ headers: { accept = '' } }) =>
        prefersHtml(accept)
          ? file('text/html', (await files()).html, { 'content-security-policy': policy(bridgeUrl), vary: 'accept' })
          : { status: 200, type: 'text/plain; charset=utf-8', headers: { vary: 'accept' }, body: app.help },
      'GET /main.js': async () => file('text/javascript', (await files()).script),
      'GET /style.css': async () => file('text/css', (await files()).style),
    };
  }

  #viewRoutes({ baseUrl }: Service, demo: Demo): Routes {
    const { app, rapidpro, turn } = this.#outside;
    const setup: Setup = {
      demo_phone: demo.panelist,
      bots: demoBots.map(({ number, name, platform }) => ({ number, name, platform })),
      properties: Object.entries(catalogue).map(([name, described]) => ({ name, ...described })),
    };
    const business = new Business({ baseUrl, token: demo.token });
    return {
      'GET /live': () =>
        feedOf([
          [app.changes, 'phones'],
          [rapidpro.changes, 'platforms'],
          [turn.changes, 'platforms'],
          [this.#requests, 'requests'],
          [this.#funnel, 'funnel'],
        ]),
      'GET /view/setup': () => view(setup),
      'GET /view/phones': () => view(phonesOf(app)),
      'GET /view/phones/{phone}': ({ parameters: { phone = '' } }) => view(phoneViewOf(app, phone)),
      'GET /view/requests': () => view(this.#log.requests),
      'GET /view/deliveries': () => view(deliveriesOf(app)),
      'GET /view/platforms': () => view(platformsOf({ rapidpro, turn })),
      'GET /view/funnel': async () => view(await jobsOfToday(demoBots)),
      'POST /business/{act}': async ({ parameters: { act = '' }, body }) => {
        await business.act(act, check(whom, parseJson(body)).phone);
        return { status: 204 };
      },
    };
  }
}

/** Browsers ask for HTML by name, programs for anything. */
const prefersHtml = (accept: string): boolean => /\btext\/html\b/.test(accept);

const policy = (bridgeUrl: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    `img-src 'self' data: ${bridgeUrl}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

const file = (type: string, body: string, headers: Record<string, string> = {}): Reply => ({
  status: 200,
  type: `${type}; charset=utf-8`,
  headers: { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff', ...headers },
  body,
});

const view = (value: unknown): Reply => ({ ...json(200, value), headers: { 'cache-control': 'no-store' } });

const parsed = (line: string): unknown => {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
};

/** Whether a function tells that it has counted. */
const isCount = (entry: unknown): boolean =>
  typeof entry === 'object' && entry !== null && 'message' in entry && entry.message === 'count';
