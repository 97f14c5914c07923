/** Kilobytes of the largest items, and the capacity units that they take. */
/** Units of an item, or of items of a page, of so many KB. */
export const inTransaction = (kilobytes: number): number => 2 * Math.ceil(kilobytes);
export const consistent = (kilobytes: number): number => Math.ceil(kilobytes / 4);
export const eventual = (kilobytes: number): number => consistent(kilobytes) / 2;

/** KB of a page of a query; the last item may be on both sides of the limit. */
export const PAGE = 1_028;
/** KB of items: a profiler, the text of a message and its quick replies, a user's text, and an attempt to deliver that. */
export const PROFILER = 343;
export const TEXT = 17;
export const CONTENT = 34;
export const RECEIVED = 257;
export const ATTEMPT = 200;
/** KB of a user with the longest values of the 11 properties of the service. Each property of a deployment adds 5. */
export const PROFILE = 56;
/** KB of a user data request for all of them, with the longest reasons and values. */
export const REQUEST = 108;
/** KB of a consent receipt for all of them, with the longest reason. */
export const RECEIPT = 4.9;
/** KB of an answer, of a counter of answers, of a counter of a job with all quarters, and of a log entry in an index. */
export const ANSWER = 0.24;
export const COUNTER = 0.11;
export const JOB_COUNTER = 0.84;
export const LOGGED = 0.44;
/** KB of a job, and at most so many of its entry in an index. */
export const JOB_ITEM = 1;
/** Counters of a profiler: 6,700 options, of which 343 KB have no more, with 16 shards each. */
export const COUNTERS = 6_700 * 16;
/** Reads of a long poll, all but two of them eventually consistent; and the units of its slots. */
export const POLLS = 41;
export const SLOTS = 44;
