/**
 * The phone: a page of the simulated app network. A person uses it as a user of the app, and sees the service's work.
 */

import { findAccount } from '../../../shared/accounts/accounts.ts';
import { ENDPOINTS } from '../../../shared/destinations/endpoint-settings.ts';
import { type PlatformName, setups } from '../../../shared/destinations/registry.ts';
import { catalogue } from '../../../shared/users/profile-properties.ts';
import { listAccounts } from '../../operator/queries/accounts-admin.ts';
import type { Exchange } from '../aws/gateway/gateway.ts';
import { type Demo, demoBots } from '../demo.ts';
import { Changes } from '../simulators/changes.ts';
import { freshJson, httpError, noContent, parseJson } from '../simulators/http.ts';
import { check } from '../simulators/schemas.ts';
import { HELP_HEADERS, newRoutes, type Routes } from '../simulators/server.ts';
import type { Simulators } from '../simulators/simulators.ts';
import { actionBody, Business, messageBody } from './business.ts';
import { Destinations } from './destinations/routes.ts';
import { jobsOfToday } from './funnel.ts';
import { feedOf } from './live.ts';
import { makePage, type PageFiles } from './page-files.ts';
import { portalLink } from './portal-link.ts';
import { Traces } from './traces/routes.ts';
import { consentRecordOf, consentsOf } from './user/consents.ts';
import { phonesOf, phoneViewOf } from './user/conversation.ts';
import type { KnownBot, Setup } from './views.ts';

interface Service {
  baseUrl: string;
  bridgeUrl: string;
}

export class Phone {
  readonly #simulators: Simulators;
  readonly #funnel = new Changes();
  readonly #destinations: Destinations;
  readonly #traces: Traces;
  readonly #clockChanges: Changes;
  #files: Promise<PageFiles> | undefined;

  /** @param clockChanges - notify of changes of the stack's clock */
  constructor(simulators: Simulators, clockChanges: Changes) {
    this.#simulators = simulators;
    this.#clockChanges = clockChanges;
    this.#destinations = new Destinations(simulators);
    this.#traces = new Traces(simulators, demoBots);
  }

  /** Receives the log lines of the stack, and picks those about traces and counted messages. */
  readonly onLine = (line: string): void => {
    const entry = parsed(line);
    this.#destinations.onLine(entry);
    this.#traces.onLine(entry);
    if (isCount(entry)) this.#funnel.notify();
  };

  /** Receives the requests to the stack's hosts, with their responses. */
  readonly onExchange = (exchange: Exchange): void => {
    this.#traces.onExchange(exchange);
  };

  /** Serves the page at the app network's URL. */
  serve(service: Service, demo: Demo): void {
    const routes = newRoutes();
    this.#addPage(routes, service);
    this.#addViews(routes, service, demo);
    this.#addActions(routes, service, demo);
    this.#destinations.addRoutes(routes);
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

  #addViews(routes: Routes, service: Service, demo: Demo): void {
    const { app } = this.#simulators;
    const network = { inbox: app.inbox, reportedEvents: app.reportedEvents, isDelivered: this.#traces.isDelivered };
    routes.get('/live', (c) =>
      feedOf(c, [
        [app.changes, 'phones'],
        [this.#traces.changes, 'traces'],
        [this.#funnel, 'funnel'],
        [this.#destinations.changes, 'destinations'],
        [this.#clockChanges, 'clock'],
      ]),
    );
    routes.get('/view/setup', async () => freshJson(await this.#setupOf(service, demo)));
    routes.get('/view/phones', () => freshJson(phonesOf(network)));
    routes.get('/view/phones/:phone', async ({ req }) => freshJson(await phoneViewOf(network, req.param('phone'))));
    routes.get('/view/phones/:phone/consents', async ({ req }) =>
      freshJson(await consentsOf(app, demoBots, req.param('phone'))),
    );
    routes.get('/view/phones/:phone/consent-record', async ({ req }) => {
      const phone = req.param('phone');
      return new Response(JSON.stringify(await consentRecordOf(demoBots, phone), undefined, 2), {
        headers: {
          'content-type': 'application/ld+json',
          'content-disposition': 'attachment; filename="consent-receipts.jsonld"',
          'cache-control': 'no-store',
        },
      });
    });
    routes.get('/view/funnel', async () => freshJson(await jobsOfToday(demoBots)));
  }

  /** The businesses by their names at present, which they can change, and the properties of users. */
  async #setupOf({ baseUrl }: Service, demo: Demo): Promise<Setup> {
    const { businesses } = this.#simulators.app.inbox;
    return {
      demo_phone: demo.panelist,
      docs_url: `${baseUrl}/docs`,
      api_url: baseUrl,
      bots: [...demoBots.map((bot) => ({ ...bot, sends: true })), ...(await otherBots(demoBots))].map((bot) => {
        const known = businesses.find(({ bot: number }) => bot.number === number);
        return { ...bot, name: known?.name ?? bot.name };
      }),
      properties: Object.entries(catalogue).map(([name, described]) => ({ name, ...described })),
    };
  }

  /** What the page's user does as a business: sends messages to the phone. */
  #addActions(routes: Routes, { baseUrl }: Service, demo: Demo): void {
    const business = new Business({ baseUrl, token: demo.token });
    const businessOnTurn = new Business({ baseUrl, token: demo.turn_token });
    const businesses = new Map(
      demoBots.map(({ id, number }) => [id, number === demo.bot_phone_number ? business : businessOnTurn]),
    );
    const businessOf = (id: string): Business => {
      const found = businesses.get(id);
      if (found === undefined) throw httpError(404, `There is no business ${id}.`);
      return found;
    };
    this.#traces.addRoutes(routes, businesses);
    routes.get('/portal-link', async (c) => {
      const to = c.req.query('to');
      // A campaign of the other demo account is not found in the portal of the first one.
      const campaign = /^\/campaigns\/([\w-]+)$/.exec(to ?? '')?.[1] ?? '';
      const account = demoBots.find(({ id }) => id === this.#traces.accountOf(campaign))?.id ?? demoBots[0].id;
      c.header('cache-control', 'no-store');
      return c.redirect(await portalLink({ baseUrl, account, to }));
    });
    routes.post('/businesses/:business/acts/:act', async ({ req }) => {
      const act = check(actionBody, parseJson(await req.text()));
      await businessOf(req.param('business')).act(req.param('act'), act);
      return noContent();
    });
    routes.post('/businesses/:business/messages', async ({ req }) => {
      const message = check(messageBody, parseJson(await req.text()));
      return Response.json(await businessOf(req.param('business')).send(message), { status: 201 });
    });
  }
}

/** The bots of accounts other than these. Users can write to them; the page has no tokens of them. */
const otherBots = async (known: readonly { id: string }[]): Promise<KnownBot[]> => {
  const listed = await listAccounts();
  const others = listed.filter(({ id }) => !known.some((one) => one.id === id));
  const accounts = await Promise.all(others.map(({ id }) => findAccount(id)));
  return accounts.flatMap((account) => {
    if (account?.bot_number === undefined) return [];
    const { id, name, bot_number: number, platform } = account;
    return [{ id, name, number, platform: titleOf(platform), sends: false }];
  });
};

/** The platform of an account for people. */
const titleOf = (platform: string | undefined): string => {
  if (platform === ENDPOINTS) return 'webhooks';
  return platform === undefined ? 'no platform' : setups[platform as PlatformName].title;
};

/** Browsers accept `text/html`; programs usually accept any type. */
const prefersHtml = (accept: string): boolean => /\btext\/html\b/.test(accept);

const policy = (bridgeUrl: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    `img-src 'self' data: ${bridgeUrl}`,
    `media-src 'self' ${bridgeUrl}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

const fileHeaders = (type: string): Record<string, string> => ({
  'content-type': `${type}; charset=utf-8`,
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
});

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
