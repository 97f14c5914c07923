/**
 * Attributes of log entries that lists and reports need (spec §2), besides time and state, which the sort keys have. No text of a
 * user is in an index, and of a customer only its own references.
 */
const LOG_ENTRY = ['phone', 'job_id', 'payload_type', 'reason_code', 'reference', 'expires_at'];

interface Index {
  /** The prefix of its key attributes. An index that replaces another one uses the same prefix. */
  keys: string;
  /** The attributes that it contains, besides all keys. */
  holds: string[];
}

/**
 * The table's indexes. They are sparse, several entities share them, and they contain only the attributes that readers
 * need. A deployed index cannot be changed: `test/infra/pinned.test.ts` compares them with the deployed ones.
 */
export const indexes = {
  /** An account's log entries by state; due work, where a conversation has `since` and `status`. */
  gsi1: { keys: 'gsi1', holds: [...LOG_ENTRY, 'since', 'status'] },
  /**
   * A contact's log entries; a person's answers and requests; an account's media and jobs; its conversations that are retried, or
   * wait for a platform.
   */
  gsi2: { keys: 'gsi2', holds: LOG_ENTRY },
  /** A job's log entries; conversations that are offered to listeners; an account's user data requests and receipts. */
  gsi3: { keys: 'gsi3', holds: LOG_ENTRY },
  /** Log entries and jobs by the business's own reference. */
  gsi4: { keys: 'gsi4', holds: LOG_ENTRY },
} satisfies Record<string, Index>;
