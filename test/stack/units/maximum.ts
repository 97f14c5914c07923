/**
 * The maximum number of capacity units that a request takes, by endpoint. They follow from the limits of requests and items.
 * `units.test.ts` sends the most expensive requests, and compares. Write units include those of indexes.
 *
 * Not included, because other requests cause them: the authorizer and the rate limit (`besides`), and repeats of writes that
 * conflict with a transaction, at most eleven of each. Nor deliveries: an accepted message or event is delivered later, and a
 * failed delivery is repeated for three days. `later` has the first delivery of each message of a request with many.
 */
import type { EndpointName } from '../../../shared/api/index.ts';
import type { Units } from '../support/consumed.ts';

interface Maximum extends Units {
  /** What the most expensive one in this respect causes later. */
  later?: Units & { of: string };
  /** The most expensive request. */
  of: string;
}

/** Units of an item, or of items of a page, of so many KB. */
const inTransaction = (kilobytes: number): number => 2 * Math.ceil(kilobytes);
const consistent = (kilobytes: number): number => Math.ceil(kilobytes / 4);
const eventual = (kilobytes: number): number => consistent(kilobytes) / 2;

/** KB of a page of a query; the last item may be on both sides of the limit. */
const PAGE = 1_028;
/** KB of items: a profiler, the text of a message and its quick replies, a user's text, and an attempt to deliver that. */
const PROFILER = 343;
const TEXT = 17;
const CONTENT = 34;
const RECEIVED = 257;
const ATTEMPT = 200;
/** KB of a user with the longest values of the 11 properties of the service. Each property of a deployment adds 5. */
const PROFILE = 56;
/** KB of a user data request for all of them, with the longest reasons and values. */
const REQUEST = 108;
/** KB of an answer, of a counter of answers, of a counter of a job, and of a log entry in an index. */
const ANSWER = 0.24;
const COUNTER = 0.11;
const JOB_COUNTER = 0.16;
const LOGGED = 0.44;
/** Counters of a profiler: 6,700 options, of which 343 KB have no more, with 16 shards each. */
const COUNTERS = 6_700 * 16;
/** Reads of a long poll, all but two of them eventually consistent; and the units of its slots. */
const POLLS = 41;
const SLOTS = 44;

/** Of each request: to authorize it, if that is not cached, and two leases of the rate limit. */
export const besides: Units = { read: 3, write: 6 };

export const maximum: Record<EndpointName, Maximum> = {
  readApiDescription: { read: 0, write: 0, of: 'any' },
  createProfiler: { read: 0, write: 1 + inTransaction(PROFILER) + 2, of: 'of 350 KB' },
  listProfilers: { read: 8 * consistent(PAGE), write: 0, of: '8 MB of profilers, or of deleted ones' },
  readProfiler: { read: consistent(PROFILER), write: 0, of: 'of 350 KB' },
  deleteProfiler: { read: 0, write: inTransaction(PROFILER) + 6, of: 'of 350 KB' },
  answerProfiler: { read: 2 + consistent(PROFILE) + eventual(PROFILE), write: 2, of: 'of a user who is no panelist' },
  answerProfilers: {
    read: 1 + 500 * (1 + consistent(PROFILE) + eventual(PROFILE)),
    write: 500 * 2,
    of: '500 answers, each to another profiler',
  },
  countAudience: {
    read: 5 + 5 * eventual(COUNTERS * COUNTER) + eventual(200_000 * ANSWER) + eventual(PAGE),
    write: 1,
    of: '200,000 answers, and five profilers with 6,700 options',
  },
  listAnswers: { read: consistent(PROFILER) + consistent(1_000 * ANSWER), write: 0, of: '1,000 answers' },
  readResults: { read: consistent(PROFILER) + eventual(COUNTERS * COUNTER), write: 0, of: '6,700 options' },
  sendMessage: {
    read: 6,
    write: 25 * (inTransaction(CONTENT) + 12) + 40,
    // Each is put into the outbox, and removed from it.
    later: { read: 10_000 * 40, write: 10_000 * (2 * inTransaction(CONTENT) + 60), of: '33 KB to 10,000 users' },
    of: '33 KB to 25 users',
  },
  sendMessages: {
    read: 1_000 + 22,
    write: 6_000 + 40,
    later: { read: 1_000 * 40, write: 1_000 * (2 * inTransaction(6) + 60), of: '1,000 messages of 6 KB' },
    of: '6 MB of messages; 1,000 files',
  },
  readMessage: { read: 2 + 9 + consistent(300), write: 0, of: 'scheduled, in a chunk of 300 KB' },
  uploadImage: { read: 0, write: 2, of: 'any' },
  uploadFile: { read: 0, write: 2, of: 'any' },
  readMedia: { read: 1.5, write: 0, of: 'unknown' },
  receiveRapidproMessage: {
    read: 6 + consistent(PAGE),
    write: inTransaction(400) + 2 * (inTransaction(CONTENT) + 12),
    of: 'a Resend after 400 KB of repeats of one message',
  },
  receiveTurnMessage: { read: 3, write: inTransaction(TEXT) + 13, of: '4,096 characters' },
  receiveTestMessage: { read: 1, write: inTransaction(RECEIVED) + 13, of: '65,536 characters' },
  receiveAppEvents: {
    read: 100 * 4 * consistent(REQUEST),
    write: 100 * (2 * inTransaction(REQUEST) + inTransaction(PROFILE) + 60),
    of: '100 withdrawals of all properties',
  },
  startUserDataRequest: {
    read: 6 + consistent(PROFILE),
    write: inTransaction(76) + inTransaction(52) + inTransaction(PROFILE) + 40,
    of: 'all properties, with the longest reasons',
  },
  fetchUserData: {
    read: 2 * consistent(REQUEST) + (POLLS - 2) * eventual(REQUEST),
    write: SLOTS,
    of: 'a long poll of a request for all properties',
  },
  retrieveUserData: { read: 2 + consistent(PROFILE), write: 1, of: 'all properties' },
  acknowledgeDeletion: {
    read: 3 * consistent(REQUEST),
    write: inTransaction(REQUEST) + 80,
    of: 'an expired consent to all properties',
  },
  matchContacts: { read: 1_500, write: 1, of: '3,000 contacts' },
  readUser: { read: 2 + consistent(PROFILE), write: 2, of: 'by id' },
  readTokenInfo: { read: 1.5, write: 0, of: 'any' },
  readConfiguration: { read: 8 + 50 * eventual(PAGE), write: 0, of: '50 users with 21 long messages that failed' },
  updateAccount: { read: 1, write: 12, of: 'without approval' },
  setAvatar: { read: 2, write: 20, of: 'instead of another one' },
  readAvatar: { read: 2, write: 0, of: 'replaced meanwhile' },
  listDeliveries: { read: (32 + 40) * eventual(PAGE), write: 0, of: 'of long events' },
  readDelivery: { read: 0.5 + consistent(ATTEMPT), write: 0, of: 'of a long event' },
  replayDelivery: {
    read: 2 * consistent(PAGE) + consistent(RECEIVED) + 1,
    write: inTransaction(RECEIVED) + inTransaction(ATTEMPT) + 6,
    of: 'a long event, whose attempts fill 1 MB',
  },
  recoverDeliveries: {
    read: 1 + 40 * consistent(PAGE) + 21 * 2 * consistent(ATTEMPT) + 700 * 3,
    write: 21 * (inTransaction(RECEIVED) + inTransaction(ATTEMPT) + 6),
    of: '5 MB of events, among 40 MB of attempts',
  },
  claimDeliveries: {
    read: 2 + 20 * (consistent(RECEIVED) + 2) + POLLS * (20 * 2 + 3),
    write: POLLS * 20 * 7 + SLOTS,
    of: 'a long poll; 20 long events, or none that may be claimed',
  },
  settleDelivery: {
    read: 2 * consistent(RECEIVED) + 4,
    write: inTransaction(RECEIVED) + ATTEMPT + 20,
    of: 'a long event before another one',
  },
  listLogs: { read: 8 * eventual(1_002 * LOGGED), write: 0, of: '1,000 entries of any state' },
  listJobs: { read: 100 * eventual(PAGE), write: 0, of: '100 MB of counters' },
  readJob: {
    read: 7 + 402 * eventual(4 * 9 * 16 * JOB_COUNTER),
    write: 0,
    of: 'messages of each type and state on 402 days',
  },
  cancelJob: { read: 2, write: 12, of: 'any' },
};
