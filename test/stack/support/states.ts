/** States of messages, as the app network reports them. */
import { randomUUID } from 'node:crypto';
import { receiveEvents } from '../../../shared/app-event-batch.ts';

/** Reports a state of a message in this process. Returns whether it was accepted. */
export const reportState = async (id: string, state: string, reason?: string): Promise<boolean> => {
  const event = { id: randomUUID(), type: 'message.state', data: { id, state, reason } };
  return (await receiveEvents([event], () => [])).length === 0;
};
