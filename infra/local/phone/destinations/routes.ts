/** The routes of the switches of destinations. */
import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { now } from '../../../../shared/core/clock.ts';
import { Changes } from '../../simulators/changes.ts';
import type { FaultRules } from '../../simulators/fault-rules.ts';
import { freshJson, httpError, noContent, parseJson } from '../../simulators/http.ts';
import { check } from '../../simulators/schemas.ts';
import type { Routes } from '../../simulators/server.ts';
import type { Simulators } from '../../simulators/simulators.ts';
import { pendingOf, retryPending } from './pending.ts';
import { positionOf, setSwitch, switchBody } from './switches.ts';
import type { DestinationView, Server, SwitchRow } from './views.ts';

interface Destination {
  server: Server;
  name: string;
  faults: FaultRules;
}

/** Milliseconds that changes are gathered. */
const GATHER_MS = 300;

/** What the worker that delivers has done. */
const delivered = v.object({ message: v.literal('deliver'), retry_scheduled: v.number() });

/** How many switches that were set are kept. */
const MOST_SWITCHED = 50;

export class Destinations {
  /** Notified if a switch was set, or something may wait or wait no longer. */
  readonly changes = new Changes(GATHER_MS);
  readonly #destinations: Destination[];
  readonly #switched: SwitchRow[] = [];
  readonly #read: typeof pendingOf;
  #lastRead: ReturnType<typeof pendingOf> | undefined;
  /** Whether something may wait, since the last read. A read takes 64 queries, so none is made without need. */
  #isWaiting = true;

  /** @param read - finds the pending messages of each destination */
  constructor({ app, rapidpro, turn }: Pick<Simulators, 'app' | 'rapidpro' | 'turn'>, read = pendingOf) {
    this.#read = read;
    this.#destinations = [
      { server: 'app', name: 'App network', faults: app.faultRules },
      { server: 'rapidpro', name: 'RapidPro', faults: rapidpro.faultRules },
      { server: 'turn', name: 'Turn', faults: turn.faultRules },
    ];
    // Rules can also be set by a request to a simulator, and end with their last call.
    for (const { faults } of this.#destinations) faults.changes.watch(() => this.changes.notify());
  }

  /** Receives the log lines of the stack: the worker that delivers writes one after each batch of wake-ups. */
  onLine(entry: unknown): void {
    if (!v.is(delivered, entry)) return;
    this.#isWaiting ||= entry.retry_scheduled > 0;
    if (this.#isWaiting) this.changes.notify();
  }

  addRoutes(routes: Routes): void {
    routes.get('/view/destinations', async () => freshJson(await this.#views()));
    routes.get('/view/switched', () => freshJson(this.#switched));
    routes.patch('/destinations/:server', async ({ req }) => {
      const { faults, name } = this.#find(req.param('server'));
      setSwitch(faults, check(switchBody, parseJson(await req.text())));
      const { mode, share, phone } = positionOf(faults);
      this.#switched.unshift({ id: randomUUID(), time: now(), name, mode, share, phone });
      this.#switched.splice(MOST_SWITCHED);
      this.changes.notify();
      return noContent();
    });
    routes.post('/destinations/:server/retry', async ({ req }) => {
      await retryPending(this.#find(req.param('server')).server);
      this.changes.notify();
      return noContent();
    });
  }

  async #views(): Promise<DestinationView[]> {
    const read = this.#read();
    this.#lastRead = read;
    const found = await read;
    // An earlier read may end later.
    if (this.#lastRead === read)
      this.#isWaiting = Object.values(found).some(({ pending, others }) => pending + others > 0);
    return this.#destinations.map(({ server, name, faults }) => ({
      server,
      name,
      ...positionOf(faults),
      ...found[server],
    }));
  }

  /** @throws HTTPException — 404, there is no such destination */
  #find(server: string): Destination {
    const found = this.#destinations.find((destination) => destination.server === server);
    if (found === undefined) throw httpError(404, `There is no destination ${server}: app, rapidpro, turn.`);
    return found;
  }
}
