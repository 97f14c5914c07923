/** How long the service tries, keeps and remembers things, in days unless the name says otherwise. Texts name the numbers by `inDays`. */

/** A message or event that was never delivered fails after so many days of attempts. */
export const RETRY_DAYS = 3;

/** An attempt to deliver an event to a webhook is kept, and can be sent again. */
export const HISTORY_DAYS = 7;

/** A repeat of an event of the app network changes nothing. */
export const EVENT_MEMORY_DAYS = 7;

/** The tombstone and the idempotency key of a deleted profiler. */
export const TOMBSTONE_DAYS = 7;

/** A datafree URL works. */
export const MEDIA_DAYS = 30;

/** An expired datafree URL returns 410, afterwards 404. */
export const EXPIRED_MEDIA_DAYS = 30;

/** A consent is kept after its end, and after the acknowledgement of that. */
export const ENDED_CONSENT_DAYS = 30;

/** The code in a link to the portal works. */
export const CODE_MINUTES = 15;

/** The token of a session works. */
export const SESSION_HOURS = 12;

/** The record of a session's token is kept after its end. */
export const ENDED_SESSION_DAYS = 30;

/** The default period of a list of log entries. */
export const LOG_PERIOD_DAYS = 30;

/** How far ahead a message may be scheduled. */
export const DAYS_AHEAD = 35;

/** Point-in-time recovery restores any second of so many days (`PointInTimeRecoveryDescription`, DynamoDB API Reference). */
export const BACKUP_DAYS = 35;

/** A deletion is remembered, a day longer than a restore reaches back. */
export const DELETION_MEMORY_DAYS = BACKUP_DAYS + 1;

/** What an operator did, and what a business changed of its account, is recorded. */
export const OPERATION_DAYS = 400;

const WORDS = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];

/** A number of days as texts write it: "three days", "30 days". */
export const inDays = (days: number): string => `${WORDS[days] ?? days} days`;
