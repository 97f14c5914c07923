/**
 * A scenario of each endpoint: requests that change or read something, of which calls to AWS fail in turn
 * (`failing-calls.test.ts`), and the most expensive requests, whose capacity units are metered (`units.test.ts`). The benches
 * measure the cost of the first request.
 */
import type { Endpoint } from '../../../shared/api/endpoint.ts';
import type { Request, Scenario } from '../in-process/failing-calls/scenario.ts';
import type { Units } from '../support/consumed.ts';

/** A business with a bot, which sends a request, and the number of a user. */
export interface Business {
  account: string;
  bot: string;
  phone: string;
}

/** Puts into the table what the request needs. Default: nothing, and the request has no parts. */
type Prepare = (business: Business) => Promise<Partial<Request>>;

/** A request with a new effect, and what is special about it: see `Scenario`. */
export interface Call extends Omit<Scenario, 'prepare'> {
  prepare?: Prepare;
  /** The part of the response's body that is the same in each run. Default: all of it. */
  shown?: (body: unknown) => unknown;
}

/**
 * The maximum number of capacity units that a request takes. It follows from the limits of requests and items. Write units
 * include those of indexes.
 *
 * Not included, because other requests cause them: the authorizer and the rate limit, and repeats of writes that conflict
 * with a transaction, at most eleven of each. Nor deliveries: an accepted message or event is delivered later, and a failed
 * delivery is repeated for three days.
 */
interface Maximum extends Units {
  /** What the most expensive one in this respect causes later, with the first delivery of each message. */
  later?: Units & { of: string };
  /** The most expensive request. */
  of: string;
}

/**
 * One of the most expensive requests that the schema and the limits of an endpoint allow.
 *
 * Where the table would need gigabytes, a part of it is there: `whole` then works out what the whole costs. Costs are linear
 * in the number of items and bytes, except for rounding: DynamoDB rounds up once for an item that is read by its key, and
 * once for each page of a query.
 */
export interface Worst {
  prepare?: Prepare;
  /** The statuses of its response; default: 200, 201 and 204. */
  status?: number;
  /** Parts that make it larger than the limits allow: the response is 422. So no limit is raised without this request. */
  beyond?: (request: Request) => Partial<Request>;
  /** The cost of the whole request, by what the measured one costs. */
  whole?: (measured: Units) => Units;
  /** A smaller request of the same kind: what workers do because of it is measured, and so many times that is the whole. */
  later?: { prepare: () => Promise<Partial<Request> & { phones: string[] }>; times: number };
}

/** A call, or several by name; and its most expensive requests, by default the first call. */
export type EndpointScenario = (Call | { calls: Readonly<Record<string, Call>> }) & {
  max: Maximum;
  worst?: Worst | readonly Worst[];
};

export type Scenarios<Endpoints extends Readonly<Record<string, Endpoint>>> = {
  readonly [Name in keyof Endpoints]: EndpointScenario;
};
