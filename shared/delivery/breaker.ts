/** The circuit breaker of a conversation's destination. */
import { now, sortableTime } from '../core/clock.ts';
import { destinationNameOf } from '../destinations/destination.ts';
import type { AnyConversation } from '../outbox/entities.ts';
import { groupIndexOf } from '../outbox/wake-ups/conversations.ts';
import { AppNetworkBreaker } from './app-network-breaker.ts';
import {
  type Breaker,
  type CircuitState,
  type Failure,
  readCircuit,
  recordFailure,
  recordSuccess,
  setPause,
  stateOf,
} from './circuit-breaker.ts';
import { isSlow, recordTime, turnOf } from './slots.ts';

/** The breaker for one wake-up of a conversation. */
export const breakerOf = (conversation: AnyConversation): Breaker =>
  conversation.direction === 'app' ? new AppNetworkBreaker(conversation) : new OwnBreaker(conversation);

/** A customer's server has one circuit: any three failures in a row open it. */
class OwnBreaker implements Breaker {
  readonly #name: string;
  readonly #group: number;
  /** Until when its groups take turns. */
  #turnsUntil: string | undefined;

  constructor(conversation: AnyConversation) {
    this.#name = destinationNameOf(conversation);
    this.#group = groupIndexOf(conversation);
  }

  async acquire(): Promise<CircuitState> {
    const circuit = await readCircuit(this.#name);
    this.#turnsUntil = circuit?.turns_until;
    return stateOf(this.#name, circuit);
  }

  recordFailure(circuit: CircuitState, failure?: Failure): Promise<void> {
    return recordFailure(this.#name, circuit, failure);
  }

  recordSuccess(circuit: CircuitState): Promise<void> {
    return recordSuccess(this.#name, circuit);
  }

  /** It works, so this is no failure. */
  async pause(circuit: CircuitState, until: number): Promise<void> {
    await this.recordSuccess(circuit);
    await setPause(this.#name, until);
  }

  async recordTime(usedMs: number): Promise<void> {
    if (isSlow(usedMs)) this.#turnsUntil = await recordTime(this.#name, usedMs);
  }

  turn(): number | undefined {
    const isLimited = this.#turnsUntil !== undefined && this.#turnsUntil > sortableTime(now());
    return isLimited ? turnOf(this.#group) : undefined;
  }
}
