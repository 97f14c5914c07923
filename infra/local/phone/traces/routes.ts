/** The routes of Activity: traces and calls, sending again, and retrying now. */
import { retryConversations } from '../../../operator/queries/outbox-inspection.ts';
import type { Exchange } from '../../aws/gateway/gateway.ts';
import { Changes } from '../../simulators/changes.ts';
import { freshJson, httpError, noContent, parseJson } from '../../simulators/http.ts';
import type { Routes } from '../../simulators/server.ts';
import type { Simulators } from '../../simulators/simulators.ts';
import type { Business } from '../business.ts';
import type { Bot } from '../views.ts';
import { sendAgain } from './again.ts';
import { Board } from './board.ts';
import { callOf, callTo, textAt } from './record/capture.ts';
import { KeptFiles } from './record/files.ts';
import { traceOf } from './record/link.ts';
import { TraceStore } from './record/store.ts';
import { filtersIn } from './select.ts';
import type { DestinationStats, Server, TraceList } from './views.ts';

/** A campaign changes traces many times a second: the page reads them again at most four times. */
const DELAY_MS = 250;

export class Traces {
  /** Notified when traces may have changed. */
  readonly changes = new Changes(DELAY_MS);
  readonly #store = new TraceStore();
  readonly #files = new KeptFiles();
  readonly #board: Board;
  readonly #simulators: Simulators;

  constructor(simulators: Simulators, bots: readonly Bot[]) {
    this.#simulators = simulators;
    const { app, rapidpro, turn } = simulators;
    for (const [server, simulator] of [
      ['app', app] as const,
      ['rapidpro', rapidpro] as const,
      ['turn', turn] as const,
    ]) {
      simulator.watchCalls((call) => {
        const found = callTo(server, call);
        this.#store.addDelivery(found, traceOf(found, this.#store));
        this.changes.notify();
      });
    }
    app.watchOwnReports((event) => this.#store.addOwnEvent(event));
    this.#board = new Board(this.#store, {
      bots,
      onOutdated: () => this.changes.notify(),
      hasFile: (request) => this.#files.get(request) !== undefined,
      names: {
        person: (phone) =>
          phone === null
            ? 'a user'
            : (app.reportedEvents.userOf(phone)?.properties.first_name?.value ?? `…${phone.slice(-4)}`),
        business: (account) => bots.find(({ id }) => id === account)?.name ?? account ?? 'the service',
      },
    });
  }

  /** Receives a parsed log line of the stack. */
  onLine(entry: unknown): void {
    if (this.#store.addLine(entry)) this.changes.notify();
  }

  /** Receives a request to the stack, with its response. */
  onExchange(exchange: Exchange): void {
    const { requestId, headers, body } = exchange;
    if (body && headers['content-type']?.startsWith('multipart/')) this.#files.add(requestId, body);
    this.#store.addCall(callOf(exchange));
    this.changes.notify();
  }

  /** Whether the platform has accepted the message that a user wrote with this event. */
  isDelivered = (event: string): boolean => this.#store.isDelivered(event);

  /** The account of a message, request or job, if its trace is kept. */
  accountOf(id: string): string | null {
    return this.#store.find(id)?.call?.account ?? null;
  }

  addRoutes(routes: Routes, businesses: ReadonlyMap<string, Business>): void {
    // The page names its own reports, so that Activity can hide them. Programs that report states are shown.
    routes.post('/messages/:id/states', async ({ req }, next) => {
      const id = textAt(parseJson(await req.text()), 'event_id');
      if (id !== undefined && req.header('sec-fetch-site') === 'same-origin') this.#store.addOwnEvent(id);
      return next();
    });
    routes.get('/view/traces', async ({ req }) => freshJson(await this.#list(req.query())));
    routes.get('/view/traces/:id', async ({ req }) => {
      const view = await this.#board.view(req.param('id'));
      if (view === undefined)
        throw httpError(404, 'This trace is not kept: the stack keeps the last 100 of each user.');
      return freshJson(view);
    });
    routes.get('/view/calls', ({ req }) =>
      freshJson(this.#board.calls(filtersIn(req.query()), req.query('own') !== undefined)),
    );
    routes.get('/view/calls/:id', ({ req }) => {
      const view = this.#board.call(req.param('id'));
      if (view === undefined) throw httpError(404, 'This call is not kept: the stack keeps the last ones.');
      return freshJson(view);
    });
    routes.delete('/traces', () => {
      this.#store.clear();
      this.#files.clear();
      this.changes.notify();
      return noContent();
    });
    routes.post('/traces/:id/again', async ({ req }) => {
      const view = await this.#board.view(req.param('id'));
      const call = this.#store.find(req.param('id'))?.call;
      if (view === undefined || call === undefined) throw httpError(404, 'This trace is not kept any more.');
      if (view.fixed !== null) throw httpError(422, view.fixed);
      await sendAgain(call, view, { simulators: this.#simulators, businesses, file: this.#files.get(call.id) });
      return noContent();
    });
    routes.post('/traces/:id/confirm', async ({ req }) => {
      const view = await this.#board.view(req.param('id'));
      const business = businesses.get(view?.account ?? '');
      if (view?.deletion == null || business === undefined) throw httpError(404, 'This trace owes no deletion.');
      await business.confirmDeletion(view.deletion);
      return noContent();
    });
    routes.post('/traces/:id/retry', async ({ req }) => {
      const conversation = this.#board.conversationOf(req.param('id'));
      if (conversation === undefined) throw httpError(404, 'This trace is not kept any more.');
      if ((await retryConversations(conversation)) === 0)
        throw httpError(409, 'Nothing of this conversation is pending.');
      return noContent();
    });
  }

  async #list(query: Record<string, string>): Promise<TraceList> {
    return {
      ...(await this.#board.list(filtersIn(query), query.own !== undefined)),
      destinations: this.#destinations(),
    };
  }

  #destinations(): DestinationStats[] {
    const { app, rapidpro, turn } = this.#simulators;
    const statsOf = (server: Exclude<Server, 'service'>, name: string, url: string): DestinationStats => ({
      server,
      name,
      url,
      calls: this.#store.lastCallsOf(server),
    });
    return [
      statsOf('app', 'App network', app.appUrl),
      statsOf('rapidpro', 'RapidPro', `${rapidpro.url}/c/ex/${Object.keys(rapidpro.channels)[0] ?? ''}/receive`),
      statsOf('turn', 'Turn', `${turn.url}/v1/numbers/${Object.keys(turn.channels)[0] ?? ''}/messages`),
    ];
  }
}
