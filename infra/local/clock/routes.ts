/** The requests that show and set the clock of the local stack: `/clock` at the URL of the phone's page. */
import * as v from 'valibot';
import type { ClockView } from '../../operator/local-stack/clock-view.ts';
import type { Changes } from '../simulators/changes.ts';
import { freshJson, httpError, parseJson } from '../simulators/http.ts';
import { check, fields } from '../simulators/schemas.ts';
import { newRoutes, type Routes } from '../simulators/server.ts';
import { advanceTo, BusyError, type Moving } from './advance.ts';
import { DURATION_FORM, durationOf, TIME_FORM, timeOf } from './times.ts';

const MOST_RATE = 10_000;
const RATE_FORM = `a number from 1 to ${MOST_RATE}`;

const duration = v.pipe(
  v.string(`must be ${DURATION_FORM}`),
  v.check((text) => durationOf(text) !== undefined, `must be ${DURATION_FORM}`),
);
const time = v.pipe(
  v.string(`must be ${TIME_FORM}`),
  v.check((text) => timeOf(text) !== undefined, `must be ${TIME_FORM}`),
);
const rate = v.pipe(
  v.number(`must be ${RATE_FORM}`),
  v.minValue(1, `must be ${RATE_FORM}`),
  v.maxValue(MOST_RATE, `must be ${RATE_FORM}`),
);

const change = v.pipe(
  fields({
    advance: v.optional(duration),
    set: v.optional(time),
    run: v.optional(rate),
    real: v.optional(v.literal(true, 'must be true')),
  }),
  v.check(
    (given) => Object.keys(given).length === 1,
    'The request must contain one of the fields advance, set, run and real',
  ),
);

export class ClockRequests {
  readonly #moving: Moving;
  readonly #changes: Changes;
  #isMoving = false;
  #last: ClockView['last_advance'];

  /** @param changes - are notified whenever a request has set the clock, or begins to */
  constructor(moving: Moving, changes: Changes) {
    this.#moving = moving;
    this.#changes = changes;
  }

  get routes(): Routes {
    const routes = newRoutes();
    routes.get('/clock', () => freshJson(this.#view()));
    routes.post('/clock', async ({ req }) => {
      const given = check(change, parseJson(await req.text()));
      await this.#change(given).finally(() => this.#changes.notify());
      return freshJson(this.#view());
    });
    return routes;
  }

  #view(): ClockView {
    const { clock } = this.#moving;
    return {
      time: new Date(clock.now()).toISOString(),
      ahead_s: Math.round(clock.offset / 1_000),
      rate: clock.rate,
      moving: this.#isMoving,
      ...(this.#last && { last_advance: this.#last }),
    };
  }

  async #change(given: v.InferOutput<typeof change>): Promise<void> {
    const { clock } = this.#moving;
    if (this.#isMoving) throw httpError(409, 'The clock is moving ahead. Wait until it has arrived.');
    if (given.real) return clock.reset();
    if (given.run !== undefined) return clock.run(given.run);
    const end = given.advance === undefined ? timeOf(given.set ?? '') : clock.now() + (durationOf(given.advance) ?? 0);
    if (end === undefined || end < clock.now())
      throw httpError(422, 'The clock only moves ahead. To go back, return to real time.');
    await this.#advanceTo(end);
  }

  async #advanceTo(end: number): Promise<void> {
    const start = Date.now();
    const { clock } = this.#moving;
    // A clock that runs by itself would pass what is due.
    const { rate: before } = clock;
    clock.run(1);
    this.#isMoving = true;
    this.#changes.notify();
    try {
      const stops = await advanceTo(end, this.#moving);
      this.#last = { stops, ms: Date.now() - start };
    } catch (error) {
      if (!(error instanceof BusyError)) throw error;
      throw httpError(503, error.message);
    } finally {
      this.#isMoving = false;
      clock.run(before);
    }
  }
}
