import type { Arbitrary } from 'fast-check';
import type { Operation } from './description.ts';
import type { Draft } from './well-formed.ts';
import type { Sent } from './wire.ts';
import type { World } from './world.ts';

/** A kind of hostile input: derives requests from an operation's well-formed ones. */
export interface Kind {
  applies: (operation: Operation) => boolean;
  make: (drafts: Arbitrary<Draft>, world: World) => Arbitrary<Sent>;
  /** The number of its requests in relation to another kind's. Default: 1. */
  share?: number;
  /** Set if each of its requests must be rejected. */
  rejected?: true;
}

/** The share of kinds whose requests are valid. It is low, because successful requests take longest. */
export const INTACT = 0.25;
