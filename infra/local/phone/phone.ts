/**
 * The phone: a page of the simulated app network. A person uses it as a user of the app, and sees the service's work.
 */
import { catalogue } from '../../../shared/users/profile-properties.ts';
import { type Demo, demoBots } from '../demo.ts';
import { Changes } from '../simulators/changes.ts';
import { noContent, parseJson } from '../simulators/http.ts';
import { check, fields, phone as phoneNumber } from '../simulators/schemas.ts';
import { HELP_HEADERS, newRoutes, type Routes } from '../simulators/server.ts';
import type { Simulators } from '../simulators/simulators.ts';
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

/** The body of a request for an action of the business. */
const actionBody = fields({ phone: phoneNumber });

export class Phone {
  readonly #simulators: Simulators;
  readonly #log = new AccessLog();
  readonly #requests = new Changes();
  readonly #funnel = new Changes();
  #files: Promise<PageFiles> | undefined;

  constructor(simulators: Simulators) {
    this.#simulators = simulators;
  }

  /** Receives the log lines of the stack, and picks those about requests and counted messages. */
  readonly onLine = (line: string): void => {
    const entry = parsed(line);
    if (this.#log.add(entry)) this.#requests.notify();
    else if (isCount(entry)) this.#funnel.notify();
  };

  /** Serves the page at the app network's URL. */
  serve(service: Service, demo: Demo): void {
    const routes = newRoutes();
    this.#addPage(routes, service);
    this.#addViews(routes, service, demo);
    this.#simulators.app.serve(routes);
  }

  #addPage(routes: Routes, { bridgeUrl }: Service): void {
    const files = (): Promise<PageFiles> => {
      this.#files ??= makePage();
      return this.#files;
    };
    const { app } = this.#simulators;
    routes.get('/', async (c) => {
      c.header('vary', 'accept');
      if (!prefersHtml(c.req.header('accept') ?? '')) return c.body(app.help, 200, HELP_HEADERS);
      c.header('content-security-policy', policy(bridgeUrl));
      return c.body((await files()).html, 200, fileHeaders('text/html'));
    });
    routes.get('/main.js', async (c) => c.body((await files()).script, 200, fileHeaders('text/javascript')));
    routes.get('/style.css', async (c) => c.body((await files()).style, 200, fileHeaders('text/css')));
  }

  #addViews(routes: Routes, { baseUrl }: Service, demo: Demo): void {
    const { app, rapidpro, turn } = this.#simulators;
    const setup: Setup = {
      demo_phone: demo.panelist,
      bots: demoBots.map(({ number, name, platform }) => ({ number, name, platform })),
      properties: Object.entries(catalogue).map(([name, described]) => ({ name, ...described })),
    };
    const business = new Business({ baseUrl, token: demo.token });
    routes.get('/live', (c) =>
      feedOf(c, [
        [app.changes, 'phones'],
        [rapidpro.changes, 'platforms'],
        [turn.changes, 'platforms'],
        [this.#requests, 'requests'],
        [this.#funnel, 'funnel'],
      ]),
    );
    routes.get('/view/setup', () => view(setup));
    routes.get('/view/phones', () => view(phonesOf(app)));
    routes.get('/view/phones/:phone', ({ req }) => view(phoneViewOf(app, req.param('phone'))));
    routes.get('/view/requests', () => view(this.#log.requests));
    routes.get('/view/deliveries', () => view(deliveriesOf(app)));
    routes.get('/view/platforms', () => view(platformsOf({ rapidpro, turn })));
    routes.get('/view/funnel', async () => view(await jobsOfToday(demoBots)));
    routes.post('/business/:act', async ({ req }) => {
      await business.act(req.param('act'), check(actionBody, parseJson(await req.text())).phone);
      return noContent();
    });
  }
}

/** Browsers accept `text/html`; programs usually accept any type. */
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

const fileHeaders = (type: string): Record<string, string> => ({
  'content-type': `${type}; charset=utf-8`,
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
});

const view = (value: unknown): Response => Response.json(value, { headers: { 'cache-control': 'no-store' } });

const parsed = (line: string): unknown => {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
};

/** Whether a log line reports that messages were counted. */
const isCount = (entry: unknown): boolean =>
  typeof entry === 'object' && entry !== null && 'message' in entry && entry.message === 'count';
