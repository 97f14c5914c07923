/** States of messages: from reports of the app network, and from delivery. */
import { randomUUID } from 'node:crypto';
import { messageHistory } from '../../../infra/operator/queries/message-history.ts';
import { receiveEvents } from '../../../shared/app-network/event-batch.ts';
import { findMessages, recordStates } from '../../../shared/messaging/state-reports.ts';
import type { State } from '../../../shared/outbox/message.ts';

/** Reports a state of a message in this process. Returns whether it was accepted. */
export const reportState = async (id: string, state: string, reason?: string): Promise<boolean> => {
  const event = { id: randomUUID(), type: 'message.state', data: { id, state, reason } };
  return (await receiveEvents([event], () => [])).length === 0;
};

/** Logs any state of a message, as delivery does. */
export const logState = async (id: string, state: State): Promise<void> => {
  const message = (await findMessages([id])).get(id);
  if (message === undefined) throw new Error(`No message has the id ${id}.`);
  await recordStates([{ message, state }]);
};

/** The states that a message has reached, in their order, with the codes of failures. */
export const statesWithReasons = async (id: string): Promise<string[]> =>
  ((await messageHistory(id))?.states ?? []).map(({ state, reason_code }) =>
    reason_code === undefined ? state : `${state}: ${reason_code}`,
  );

/** The states that a message has reached, in their order. */
export const statesOf = async (id: string): Promise<State[]> =>
  ((await messageHistory(id))?.states ?? []).map(({ state }) => state);
