import type { Arbitrary } from 'fast-check';
import type { Operation } from './description.ts';
import type { Draft } from './well-formed.ts';
import type { Sent } from './wire.ts';
import type { World } from './world.ts';

/** A kind of hostile input: makes requests of well-formed ones of an operation. */
export interface Kind {
  applies: (operation: Operation) => boolean;
  make: (drafts: Arbitrary<Draft>, world: World) => Arbitrary<Sent>;
  /** How many of these there are for one of any other kind; 1, where nothing is said. */
  share?: number;
  /** Whether what it makes must be refused, whatever it is made of. */
  refused?: true;
}

/** The share of kinds that leave requests as they should be: what is then done costs more than all the rest. */
export const INTACT = 0.25;
