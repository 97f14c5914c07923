/** The items of a test's own table: reads, restores and compares them. */
import { itemOf } from '../../../../infra/bundle/sdk/attributes.ts';
import { rateKey } from '../../../../shared/accounts/entities.ts';
import { chunksOf, isUploadKey } from '../../../../shared/campaigns/entities.ts';
import { tableName } from '../../../../shared/core/settings.ts';
import { circuitKey } from '../../../../shared/delivery/entities.ts';
import { headKey, messageKey, outcomeKey } from '../../../../shared/outbox/entities.ts';
import { isAnswerKey, resultsOf } from '../../../../shared/profilers/entities.ts';
import { claimKey } from '../../../../shared/stats/entities.ts';
import type { AnyItem } from '../../../../shared/table/entity.ts';
import type { Key } from '../../../../shared/table/keys.ts';
import { callDatabase } from '../../support/call-database.ts';
import { sorted } from '../../support/whole-table.ts';

const BATCH = 25;

/** Makes `items` the table's only items. `found` are its present items. */
export const restoreTable = async (items: AnyItem[], found: AnyItem[]): Promise<void> => {
  const wanted = new Map(items.map((item) => [nameOf(item), textOf(item)]));
  const there = new Map(found.map((item) => [nameOf(item), textOf(item)]));
  const requests = [
    ...found
      .filter((item) => !wanted.has(nameOf(item)))
      .map(({ pk, sk }) => ({ DeleteRequest: { Key: itemOf({ pk, sk }) } })),
    ...items
      .filter((item) => there.get(nameOf(item)) !== wanted.get(nameOf(item)))
      .map((item) => ({ PutRequest: { Item: itemOf(item) } })),
  ];
  for (let start = 0; start < requests.length; start += BATCH) {
    const RequestItems = { [tableName()]: requests.slice(start, start + BATCH) };
    await callDatabase('BatchWriteItem', { RequestItems });
  }
};

const nameOf = ({ pk, sk }: Key): string => `${pk} ${sk}`;

/** A text that does not depend on the order of attributes. */
const textOf = (value: object): string => JSON.stringify(value, sorted);

/** Ids of messages and requests, of claims, of uploads, and of batches; signing secrets and tokens. */
const RANDOM =
  /(?<="counted":")[\w-]{12}|bapi_[0-9a-f]{72}|(?<="last_four":")[0-9a-f]{4}|(?<="sha256":")[0-9a-f]{64}|(?<=TOKEN#)[0-9a-f]{64}|(?<=DELETED#)[0-9a-f]{64}|whsec_[A-Za-z0-9+/]+=*|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b[0-9a-f]{32}\b|\b[0-9a-f]{27}\b/g;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z?/g;
/** Times and messages in the positions of log entries, and jobs in the partitions of their logs. */
const LOGGED_TIME = /(?<="gsi\dsk":"(?:[\w-]+#)?)[0-9a-z]{10}(?=[0-9a-z]{10}[a-h]")/g;
const LOGGED_ID =
  /(?<="gsi\dsk":"(?:[\w-]+#)?(?:[0-9a-z]{10}|<time>))[0-9a-z]{10}(?=[a-h]")|(?<="gsi3pk":"LOGS#[^"#]+#)[0-9a-z]{25}(?=#[a-h]")/g;
const END = /"(?:expires_at|until)":[^,}]+/g;
/** Times of repeats, of status receipts and of last messages, in milliseconds since 1970. */
const MOMENT = /(?<="(?:began|last|reported|written)":)\d{13}\b/g;

/** The shards of due work and of pending batches that the new id of a batch chooses. */
const SHARDS_OF_NEW = /(?<="(?:DUE#(?:\w+#)?|BATCHES#))\d+(?=".*"pk":"BATCH#[^"]*#<id>")/g;
/** The hash of a user in the name of a conversation, and the shard of due work that the name chooses. */
const HASH_OF_USER = /(?<="DUE#conversations#)\d+|(?<=OUTBOX#\w+#[^"#]+#)[\w-]{22}/g;

/** Formats values as texts that are equal in each run: without times, and without ids that are new since `before`. */
export const likenessSince = (before: AnyItem[]): ((value: object) => string) => {
  const known = JSON.stringify(before);
  const [kept, keptInLog] = [new Set(known.match(RANDOM)), new Set(known.match(LOGGED_ID))];
  return (value) => {
    const text = textOf(value)
      .replaceAll(END, '')
      .replaceAll(TIME, '<time>')
      .replaceAll(LOGGED_TIME, '<time>')
      .replaceAll(LOGGED_ID, (id) => (keptInLog.has(id) ? id : '<id>'))
      .replaceAll(MOMENT, '<time>')
      .replaceAll(RANDOM, (id) => (kept.has(id) ? id : '<id>'))
      .replaceAll(SHARDS_OF_NEW, '<shard>');
    // Another pseudonym has another hash.
    return text.includes('erased-<id>') ? text.replaceAll(HASH_OF_USER, '<hash>') : text;
  };
};

/** Whether an item is a destination's circuit. Its failures may differ: the next attempt corrects them. */
export const isCircuit = ({ pk }: Key): boolean => pk.startsWith(circuitKey('').pk);

/** Whether an item is a claim of log entries. A worker that ended leaves one that is void: the next one makes another. */
export const isClaim = ({ pk }: Key): boolean => pk.startsWith(claimKey('').pk);

/** Whether an item is a delivery attempt. The history is not essential: a failure to record it changes nothing else. */
export const isAttempt = ({ pk }: Key): boolean => pk.startsWith('DELIVERIES#');

/**
 * Whether an item counts an allowance or the turns of an account. They are charged before the work, so a request that fails
 * stays charged.
 */
export const isAllowance = ({ pk }: Key): boolean => pk.startsWith('ALLOWANCE#') || pk.startsWith(rateKey('').pk);

/**
 * Whether an item belongs to an upload that no batch names: nobody sees it, and `sweep` removes it.
 *
 * @param items - all items of the table
 */
export const isOfUnnamedUpload = ({ pk }: Key, items: AnyItem[]): boolean =>
  isUploadKey({ pk }) || (pk.startsWith(chunksOf('')) && !items.some(({ upload }) => pk === chunksOf(String(upload))));

/**
 * Contradictions that no failure may cause: an entry whose conversation has no head, an accepted message that is neither
 * pending nor ended, one that is pending although it failed, and a counter that differs from the number of counted entries.
 * A message that was delivered may still be pending: then its worker ended between the two writes that settle it.
 */
export const contradictionsIn = (items: AnyItem[]): string[] => {
  const keys = new Set(items.map(nameOf));
  const entries = items.filter(({ sk }) => sk.startsWith('ENTRY#'));
  const pending = new Set(entries.map(({ outgoing }) => subjectOf(outgoing)));
  const lost = entries.filter(({ pk }) => !keys.has(nameOf({ pk, sk: headKey('').sk })));
  const messages = items.filter(({ sk, state }) => sk === messageKey('').sk && state === 'sent');
  const ends = new Map(items.filter(({ sk }) => sk === outcomeKey('').sk).map(({ pk, state }) => [pk, state]));
  const torn = messages.filter(({ pk }) => {
    const end = ends.get(pk);
    return pending.has(pk) ? end === 'sending_failed' : end === undefined;
  });
  const counters = items.filter(({ pk }) => pk.startsWith('JOBS#'));
  const sealed = new Set(items.filter((item) => item.is === 'sealed').map(({ pk }) => pk));
  const isCounted = ({ counted }: AnyItem) => counted === true || sealed.has(claimKey(String(counted)).pk);
  const counted = items.filter((item) => isCounted(item) && !isAnswerKey(item)).length;
  const results = items.filter(({ pk }) => pk.startsWith(resultsOf('')));
  const inResults = results.reduce((total, { count }) => total + Number(count), 0);
  const answers = items.filter((item) => isCounted(item) && isAnswerKey(item)).length;
  const sum = counters.reduce((total, { count }) => total + Number(count), 0);
  return [
    ...lost.map(({ sk }) => `${sk} has no head`),
    ...torn.map(({ pk }) => `${pk} is neither pending nor ended, or pending and failed`),
    ...(inResults === answers ? [] : [`${answers} answers are counted as ${inResults}`]),
    ...(results.some(({ count }) => Number(count) < 0) ? ['a result is negative'] : []),
    ...(sum === counted ? [] : [`${counted} entries are counted as ${sum}`]),
  ];
};

/** The key of the message that an entry sends to its user. */
const subjectOf = (outgoing: unknown): string => {
  const { type, message } = Object(outgoing);
  return type === 'message.send' ? messageKey(message.id).pk : '';
};
