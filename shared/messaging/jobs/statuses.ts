/**
 * The statuses of a job:
 *
 * - `scheduled`: no message exists yet, because all its batches are for later.
 * - `running`: messages are pending.
 * - `completed`: every message was delivered to the app network, or has failed.
 * - `cancelled`: no further message is sent; some may still be logged as failed.
 */
export const jobStatuses = ['scheduled', 'running', 'completed', 'cancelled'] as const;
