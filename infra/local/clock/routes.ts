/** The requests that show and set the clock of the local stack: `/clock` at the URL of the phone's page. */
import * as v from 'valibot';
import { freshJson, httpError, parseJson } from '../simulators/http.ts';
import { check, fields } from '../simulators/schemas.ts';
import { newRoutes, type Routes } from '../simulators/server.ts';
import { advanceTo, BusyError, type Moving } from './advance.ts';
import { DURATION_FORM, durationOf, TIME_FORM, timeOf } from './times.ts';

/** The clock, as the requests return it. */
export interface ClockView {
  /** The present on the clock, in ISO 8601. */
  time: string;
  /** Seconds by which it is ahead of real time. */
  ahead_s: number;
  /** How many times faster than real time it runs. */
  rate: number;
  /** Whether it is moving ahead to another time. */
  moving: boolean;
  /** At how many times something was due on the last way ahead, and how many real milliseconds it took. */
  last_advance?: { stops: number; ms: number };
}

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
  #isMoving = false;
  #last: ClockView['last_advance'];

  constructor(moving: Moving) {
    this.#moving = moving;
  }

  get routes(): Routes {
    const routes = newRoutes();
    routes.get('/clock', () => freshJson(this.#view()));
    routes.post('/clock', async ({ req }) => {
      await this.#change(check(change, parseJson(await req.text())));
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
      throw httpError(422, 'The clock only moves ahead. To return to real time, send {"real": true}.');
    await this.#advanceTo(end);
  }

  async #advanceTo(end: number): Promise<void> {
    const start = Date.now();
    const { clock } = this.#moving;
    // A clock that runs by itself would pass what is due.
    const { rate: before } = clock;
    clock.run(1);
    this.#isMoving = true;
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
