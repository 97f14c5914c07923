/** Divides the people of a campaign by what became of their messages. */

export const partNames = ['read', 'delivered', 'underway', 'pending', 'failed', 'stopped', 'left'] as const;

export type Parts = Record<(typeof partNames)[number], number>;

interface Counts {
  /** Messages by the states that they reached. */
  states: Partial<Record<string, number>>;
  /** All messages. */
  recipients: number;
  isStopped: boolean;
  /** How many failed because the campaign was stopped; undefined if it is not known. */
  cancelled?: number | undefined;
}

/** Counts are late, and reports arrive in any order: no part is negative. */
export const partsOf = ({ states, recipients, isStopped, cancelled }: Counts): Parts => {
  const { sent = 0, delivered_to_server = 0, delivered_to_user = 0, read = 0 } = states;
  const { sending_failed = 0, delivery_failed = 0 } = states;
  // In a stopped campaign, most failures are due to the stop.
  const ended = isStopped ? Math.min(cancelled ?? sending_failed, sending_failed) : 0;
  const parts = {
    read,
    delivered: atLeastNone(delivered_to_user - read),
    underway: atLeastNone(delivered_to_server - Math.max(delivered_to_user, read) - delivery_failed),
    pending: atLeastNone(sent - delivered_to_server - sending_failed),
    failed: sending_failed - ended + delivery_failed,
  };
  const left = atLeastNone(recipients - ended - Object.values(parts).reduce((sum, part) => sum + part, 0));
  return isStopped ? { ...parts, stopped: ended + left, left: 0 } : { ...parts, stopped: 0, left };
};

/** To how many people the message was sent: it is delivered, pending, or has failed. */
export const sentOf = ({ left, stopped, ...sent }: Parts): number =>
  Object.values(sent).reduce((sum, part) => sum + part, 0);

const atLeastNone = (count: number): number => Math.max(count, 0);
