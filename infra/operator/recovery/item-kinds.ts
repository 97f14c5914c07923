/** What a restore does with each kind of item. The guide for operators has the same list ("What a restore brings back"). */
import { timestampOf } from '../../../shared/core/clock.ts';
import { isPseudonym } from '../../../shared/core/ids.ts';
import { lastLookAt } from '../../../shared/messaging/erased-identity.ts';
import { type Outgoing, subjectOf } from '../../../shared/outbox/event.ts';
import { anyJob, erasureKey } from '../../../shared/messaging/entities.ts';
import { batchKey, batchOf, chunksOf, erasurePassKey, expansionKey, progressKey, uploadKey } from '../../../shared/campaigns/entities.ts';
import { profilerOfResult, resultsOf, answerableKey, answeredProfilerOf, answerKey, profilerIdOf, profilerKey, profilerOfKey } from '../../../shared/profilers/entities.ts';
import { accountKey, accountListKey, accountTokenKey, hookKey, numberKey, platformKey, rateKey, tokenKey, waitsKey, anyAllowance, consentWebhookKey, consentWebhookName } from '../../../shared/accounts/entities.ts';
import { anyPartition, type DeletedKind, deletionKey, type Key } from '../../../shared/table/keys.ts';
import { circuitKey, disabledKey, spacingKey, anyDeliveries } from '../../../shared/delivery/entities.ts';
import { conversationOf, entryKey, headKey, messageKey, stateKey } from '../../../shared/outbox/entities.ts';
import { countedBy, jobCountersOf } from '../../../shared/stats/entities.ts';
import { eventKey, removalKey, removalOfContact, userKey, appUserKey } from '../../../shared/users/entities.ts';
import { mediaIdOf, mediaKey } from '../../../shared/media/entities.ts';
import { requestKey, consentKey, consentReceiptsOf } from '../../../shared/user-data/entities.ts';
import { sweepPositionsKey } from '../../../shared/due-work/entities.ts';

/** An item of any kind. */
export type Item = Key & { expires_at?: number } & Record<string, unknown>;

/** Something that may have been deleted or revoked, and with it the items about it. */
export interface Subject {
  /** The key of its deletion marker. */
  marker: Key;
  /** Up to when items are deleted with it, by the time of the marker. */
  endOf: (deleted: string) => string;
}

/**
 * - `missing`: copied if it is missing
 * - `everything`: the same, also if only a customer's or newer items are restored
 * - `tokens`, `outbox`: the same, if the option is given
 * - `batch`: copied with the batch that it is a part of
 * - `never`: made again by the service itself
 */
type Treatment = 'missing' | 'everything' | 'tokens' | 'outbox' | 'batch' | 'never';

export interface ItemKind {
  name: string;
  /** How its keys begin. */
  keys: Key;
  treatment: Treatment;
  /** The account that an item belongs to; none, if it belongs to no account. */
  accountOf?: (item: Item) => string;
  /** The profiler that an item belongs to, whose account is the item's. */
  profilerOf?: (item: Item) => string;
  subjectsOf?: (item: Item) => Subject[];
}

const after = (prefix: string, text: string): string => text.slice(prefix.length);
const idIn = (prefix: Pick<Key, 'pk'>) => (item: Item) => after(prefix.pk, item.pk);
const account = (item: Item): string => String(item.account);
/** The account in keys of the form `NAME#account#…`. */
const secondPart = ({ pk }: Item): string => pk.split('#')[1] ?? '';
const thirdPart = ({ pk }: Item): string => pk.split('#')[2] ?? '';
const anyKey = (partitions: string): Key => ({ pk: partitions.slice(0, -1), sk: '' });

const about =
  (kind: DeletedKind, identityOf: (item: Item) => string) =>
  (item: Item): Subject[] => [{ marker: deletionKey(kind, identityOf(item)), endOf: (deleted) => deleted }];

/** The user with a number. What began within two minutes after the removal was erased, too. */
const user =
  (phoneOf: (item: Item) => string) =>
  (item: Item): Subject[] => {
    const phone = phoneOf(item);
    return isPseudonym(phone) ? [] : [removedBy(removalKey(phone))];
  };
const removedBy = (marker: Key): Subject => ({
  marker,
  endOf: (deleted) => timestampOf(lastLookAt({ requested: `${deleted.slice(0, 23)}Z` })),
});
const withNumber = user((item) => String(item.phone));

/** The erasure of the user with a number. */
export const removalOf = (phone: string): Subject => removedBy(removalKey(phone));

/** The name of the kind of receipts: they outlive their account. */
export const CONSENT_RECEIPT = 'consent receipt';

const batches = batchKey('', '').pk.slice(0, -1);
const grants: Key = { pk: consentReceiptsOf(''), sk: 'GRANT#' };

/**
 * Every kind of item.
 *
 * @internal Tests use it, too.
 */
export const itemKinds: readonly ItemKind[] = [
  { name: 'account', keys: accountKey(''), treatment: 'missing', accountOf: (item) => String(item.id) },
  { name: 'list of accounts', keys: accountListKey(''), treatment: 'missing', accountOf: (item) => String(item.id) },
  {
    name: 'token',
    keys: tokenKey(''),
    treatment: 'tokens',
    accountOf: account,
    subjectsOf: about('token', idIn(tokenKey(''))),
  },
  {
    name: 'record of a token',
    keys: accountTokenKey('', ''),
    treatment: 'tokens',
    accountOf: idIn(accountKey('')),
  },
  {
    name: 'consent webhook',
    keys: consentWebhookKey(''),
    treatment: 'missing',
    accountOf: idIn(platformKey('')),
    subjectsOf: about('platform', (item) => consentWebhookName(idIn(platformKey(''))(item))),
  },
  {
    name: 'platform settings',
    keys: platformKey(''),
    treatment: 'missing',
    accountOf: idIn(platformKey('')),
    subjectsOf: about('platform', idIn(platformKey(''))),
  },
  {
    name: 'inbound secret',
    keys: hookKey(''),
    treatment: 'missing',
    accountOf: idIn(hookKey('')),
    subjectsOf: about('platform', idIn(hookKey(''))),
  },
  {
    name: 'bot number',
    keys: numberKey(''),
    treatment: 'missing',
    accountOf: account,
    subjectsOf: about('number', (item) => `${account(item)} ${after(numberKey('').pk, item.pk)}`),
  },
  { name: 'user', keys: userKey(''), treatment: 'missing', subjectsOf: user(idIn(userKey(''))) },
  {
    name: 'contact of a user',
    keys: anyKey(anyPartition.contacts),
    treatment: 'missing',
    subjectsOf: (item) => [removedBy(removalOfContact(item))],
  },
  { name: 'id of a user in the app', keys: appUserKey(''), treatment: 'missing', subjectsOf: withNumber },
  { name: 'daily allowance', keys: anyKey(anyAllowance), treatment: 'never', accountOf: secondPart },
  {
    name: 'profiler',
    keys: profilerKey('', ''),
    treatment: 'missing',
    accountOf: secondPart,
    subjectsOf: about('profiler', profilerIdOf),
  },
  {
    name: 'options of a profiler',
    keys: answerableKey('', ''),
    treatment: 'missing',
    accountOf: secondPart,
    subjectsOf: about('profiler', ({ sk }) => after(answerableKey('', '').sk, sk)),
  },
  {
    name: 'idempotency key of a profiler',
    keys: profilerOfKey('', ''),
    treatment: 'missing',
    accountOf: secondPart,
    subjectsOf: about('profiler', (item) => String(item.id)),
  },
  {
    name: 'answer',
    keys: answerKey('', ''),
    treatment: 'missing',
    profilerOf: answeredProfilerOf,
    subjectsOf: (item) => [
      ...about('profiler', answeredProfilerOf)(item),
      ...user(({ sk }) => after(answerKey('', '').sk, sk))(item),
    ],
  },
  {
    name: 'results of a profiler',
    keys: { pk: resultsOf(''), sk: 'OPTION#' },
    treatment: 'missing',
    profilerOf: profilerOfResult,
    subjectsOf: about('profiler', profilerOfResult),
  },
  { name: 'message', keys: messageKey(''), treatment: 'missing', accountOf: account, subjectsOf: withNumber },
  {
    name: 'state of a message',
    keys: stateKey('', ''),
    treatment: 'missing',
    accountOf: account,
    subjectsOf: withNumber,
  },
  {
    name: 'outbox entry',
    keys: entryKey('', ''),
    treatment: 'outbox',
    accountOf: (item) => conversationOf(item).account,
    subjectsOf: user((item) => subjectOf(item.outgoing as Outgoing).phone),
  },
  {
    name: 'batch of messages',
    keys: { ...batchKey('', ''), pk: batches },
    treatment: 'outbox',
    accountOf: (item) => batchOf(item).account,
  },
  {
    name: 'progress of a batch',
    keys: { ...progressKey('', ''), pk: batches },
    treatment: 'batch',
    accountOf: (item) => batchOf(item).account,
  },
  { name: 'chunk of a batch', keys: { pk: chunksOf(''), sk: '' }, treatment: 'batch' },
  { name: 'upload of chunks', keys: uploadKey(''), treatment: 'never' },
  { name: 'expansion of batches', keys: expansionKey(''), treatment: 'never', accountOf: secondPart },
  {
    name: 'head of an outbox',
    keys: headKey(''),
    treatment: 'never',
    accountOf: (item) => conversationOf(item).account,
  },
  { name: 'position of sweep', keys: sweepPositionsKey, treatment: 'never' },
  { name: 'circuit', keys: circuitKey(''), treatment: 'never', accountOf: thirdPart },
  { name: 'disabled webhook', keys: disabledKey(''), treatment: 'never', accountOf: thirdPart },
  { name: 'pause between equal calls', keys: spacingKey(''), treatment: 'never' },
  { name: 'slots of long polls', keys: waitsKey(''), treatment: 'never', accountOf: secondPart },
  { name: 'token bucket', keys: rateKey(''), treatment: 'never', accountOf: secondPart },
  {
    name: 'status receipt',
    keys: anyKey(anyPartition.statusReceipts),
    treatment: 'missing',
    accountOf: secondPart,
  },
  {
    name: 'delivery attempt',
    keys: anyKey(anyDeliveries),
    treatment: 'missing',
    accountOf: secondPart,
    subjectsOf: withNumber,
  },
  {
    name: 'idempotency key',
    keys: anyKey(anyPartition.idempotencyKeys),
    treatment: 'missing',
    accountOf: secondPart,
  },
  { name: 'job', keys: { ...anyKey(anyJob), sk: 'JOB' }, treatment: 'missing', accountOf: account },
  { name: 'job counter', keys: { pk: jobCountersOf(''), sk: 'DAY#' }, treatment: 'missing', accountOf: secondPart },
  {
    name: 'user data request',
    keys: requestKey(''),
    treatment: 'missing',
    accountOf: account,
    // With its values: after a withdrawal, also of a part of them, the request does not return.
    subjectsOf: (item) => [...withNumber(item), ...about('consent', idIn(requestKey('')))(item)],
  },
  {
    name: 'consent',
    keys: consentKey('', ''),
    treatment: 'missing',
    accountOf: account,
    subjectsOf: withNumber,
  },
  {
    name: 'opt-out',
    keys: { ...anyKey(anyPartition.optOuts), sk: 'STOP' },
    treatment: 'missing',
    accountOf: secondPart,
    subjectsOf: user(thirdPart),
  },
  { name: CONSENT_RECEIPT, keys: grants, treatment: 'missing', accountOf: account, subjectsOf: user(idIn(grants)) },
  {
    name: 'media',
    keys: mediaKey(''),
    treatment: 'missing',
    accountOf: account,
    subjectsOf: about('media', mediaIdOf),
  },
  { name: 'event receipt', keys: { ...eventKey(''), sk: '' }, treatment: 'missing' },
  { name: 'erasure', keys: erasureKey(''), treatment: 'everything' },
  { name: 'pass over pending batches', keys: erasurePassKey, treatment: 'never' },
  { name: 'removal of a user', keys: anyKey(anyPartition.removals), treatment: 'everything' },
  { name: 'deletion marker', keys: anyKey(anyPartition.deletions), treatment: 'everything' },
];

/** The deletion of an item's account, after which receipts of consent stay. */
export const deletedAccountOf = (item: Item, { name, accountOf }: ItemKind): Subject[] =>
  accountOf === undefined || name === CONSENT_RECEIPT ? [] : about('account', accountOf)(item);

/** The kinds of log entries. */
export const isLogEntry = ({ name }: ItemKind): boolean => name === 'message' || name === 'state of a message';

/** The kinds that `count` has added to counters: log entries and answers. */
export const isCountable = (kind: ItemKind): boolean => isLogEntry(kind) || kind.name === 'answer';

/** The kinds that a key may be of: one. */
export const kindsOf = ({ pk, sk }: Key): ItemKind[] =>
  itemKinds.filter(({ keys }) => pk.startsWith(keys.pk) && sk.startsWith(keys.sk));

const BEGINNINGS = ['created', 'created_at', 'claimed', 'updated'];

/** When an item began: the time that is compared with a deletion. Before all others, if it has none. */
export const beginningOf = (item: Item): string =>
  BEGINNINGS.map((name) => item[name]).find((time) => typeof time === 'string') ?? '';

/** Attributes with a time of an item: when it was created, changed or ended. */
const TIMES = [...BEGINNINGS, 'completed', 'deleted', 'deleted_at', 'removed', 'requested', 'revoked', 'cancelled'];

/** The latest time that an item contains; none, if it contains none. */
export const latestTimeOf = (item: Item): string | undefined => {
  const day = item.pk.startsWith(jobCountersOf('')) ? [`${countedBy(item).day}T23:59:59.999999`] : [];
  const reported = typeof item.reported === 'number' ? [timestampOf(item.reported)] : [];
  const times = TIMES.map((name) => item[name]).filter((time) => typeof time === 'string');
  return [...times, ...day, ...reported].sort().at(-1);
};
