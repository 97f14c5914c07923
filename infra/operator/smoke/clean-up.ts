/**
 * Removes all that a smoke test has created. Requests and workers may still be in progress, and write a little later; so
 * it looks again, until it finds nothing twice.
 */
import { setTimeout as pause } from 'node:timers/promises';
import {
  accountKey,
  accountListKey,
  allowanceKey,
  hookKey,
  numberKey,
  platformKey,
  rateKey,
  tokenKey,
  waitsKey,
} from '../../../shared/accounts/entities.ts';
import { hashOf } from '../../../shared/core/idempotency.ts';
import { isPseudonym } from '../../../shared/core/ids.ts';
import { inParallel } from '../../../shared/core/parallel.ts';
import { circuitKey, deliveriesOf, deliverySlots, minIntervalKey } from '../../../shared/delivery/entities.ts';
import { deliveryStatuses } from '../../../shared/delivery/history/statuses.ts';
import { destinationNameOf } from '../../../shared/destinations/destination.ts';
import { erasureKey, jobListOf, lastWrittenKey, statusReceiptKey } from '../../../shared/messaging/entities.ts';
import { conversationName, headKey, logPartitions, messageKey } from '../../../shared/outbox/entities.ts';
import { conversationsOf, directions } from '../../../shared/outbox/event.ts';
import { type LogItem, states } from '../../../shared/outbox/message.ts';
import { answersOf, profilerIdOf, profilersOf, resultsOf } from '../../../shared/profilers/entities.ts';
import { jobCountersOf } from '../../../shared/stats/entities.ts';
import { getConsistent, pages, remove, removeAll } from '../../../shared/table/client.ts';
import { dataOfPerson, deletionKey, idempotencyRecordKey, type Key } from '../../../shared/table/keys.ts';
import { consentReceiptsOf } from '../../../shared/user-data/entities.ts';
import { contactHash, contactKey, eventKey, removalKey, userKey } from '../../../shared/users/entities.ts';
import { deleteBytes } from '../messages/media.ts';
import { deleteMedia, listMedia } from '../queries/media-admin.ts';
import { eventIdsOf, IDEMPOTENCY_KEYS, type Run, USER_TEXTS } from './run.ts';

/** Looks in all, and the pause between two, in milliseconds. An index may be some seconds behind. */
const LOOKS = { max: 12, pause: 1_500 };
/** Looks in a row that must find nothing. */
const CLEAN = 2;
/** Queries at a time. */
const TOGETHER = 20;

/** Partitions whose names are not part of the run's. They are found in the items of others. */
interface Discovered {
  tokens: Set<string>;
  profilers: Set<string>;
  media: Set<string>;
  /** Partition keys of messages. */
  messages: Set<string>;
  /** Chat platforms' ids of messages. */
  references: Set<string>;
  /** Numbers and pseudonyms of the user. */
  people: Set<string>;
}

/** What is left, by the kind of item: `MESSAGE 2`. Empty if nothing is left. */
export type Leftovers = string[];

/** Removes everything of a run. Returns what it could not remove. */
export const removeRun = async (run: Run): Promise<Leftovers> => {
  const discovered: Discovered = {
    tokens: new Set(),
    profilers: new Set(),
    media: new Set(),
    messages: new Set(),
    references: new Set(),
    people: new Set([run.user]),
  };
  let clean = 0;
  for (let look = 1; look <= LOOKS.max && clean < CLEAN; look += 1) {
    if (look > 1) await pause(LOOKS.pause);
    clean = (await removeOnce(run, discovered)) === 0 ? clean + 1 : 0;
  }
  return clean < CLEAN ? kindsOf(await itemsOf(run, discovered)) : [];
};

/** Removes what there is at this moment. Returns how many items that were. */
const removeOnce = async (run: Run, discovered: Discovered): Promise<number> => {
  const media = await listMedia(run.account);
  for (const one of media) {
    discovered.media.add(one.id);
    await deleteMedia(one.id, () => deleteBytes(one));
  }
  const items = await itemsOf(run, discovered);
  // What leads to other items goes last, so that an interrupted removal can be completed.
  const guides = [accountKey(run.account).pk, profilersOf(run.account)];
  await removeAll(items.toSorted((a, b) => guides.indexOf(a.pk) - guides.indexOf(b.pk)));
  // The list of accounts is a partition of all accounts.
  const listed = accountListKey(run.account);
  const isListed = (await getConsistent(listed)) !== undefined;
  if (isListed) await remove(listed);
  return media.length + items.length + (isListed ? 1 : 0);
};

/** All items of a run that are found now. What they tell of others is added to `discovered`. */
const itemsOf = async (run: Run, discovered: Discovered): Promise<Key[]> => {
  const { account } = run;
  // From indexes: messages and jobs of the account; answers, requests and consents of the user, also under a pseudonym.
  const indexed: Key[] = [];
  await inParallel(
    [
      ...states.map((state) => ({ index: 'gsi1', partition: logPartitions.gsi1(account, { state }) })),
      ...[...discovered.people].map((person) => ({ index: 'gsi2', partition: dataOfPerson(person) })),
      { index: 'gsi2', partition: jobListOf(account) },
    ],
    TOGETHER,
    async ({ index, partition }) => void indexed.push(...(await keysAt(index, partition))),
  );
  const logged = indexed.filter(({ pk }) => pk.startsWith(messageKey('').pk));
  for (const { pk } of logged) discovered.messages.add(pk);

  const found: Item[] = indexed.filter((item) => !logged.includes(item));
  const read = new Set<string>();
  // Items of one round lead to the partitions of the next one.
  for (;;) {
    const unread = partitionsOf(run, discovered).filter((partition) => !read.has(partition));
    if (unread.length === 0) break;
    await inParallel(unread, TOGETHER, async (partition) => {
      for await (const items of pages<Item>({
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': partition },
        ConsistentRead: true,
      })) {
        for (const item of items) note(item, discovered);
        found.push(...items);
      }
    });
    for (const partition of unread) read.add(partition);
  }
  return [...new Map(found.map((item) => [JSON.stringify([item.pk, item.sk]), item])).values()];
};

/** An item, with what may lead to others. */
type Item = Key & Partial<Pick<LogItem, 'origin' | 'phone'>> & { sha256?: string; pseudonym?: string };

const note = (item: Item, discovered: Discovered): void => {
  const { pk, sha256, pseudonym, origin, phone } = item;
  if (sha256 !== undefined) discovered.tokens.add(sha256);
  if (origin !== undefined) discovered.references.add(origin.id);
  // The log of an erased user contains the pseudonym.
  for (const person of [pseudonym, pk.startsWith(messageKey('').pk) ? phone : undefined]) {
    if (person !== undefined) discovered.people.add(person);
  }
  if (pk.startsWith(profilersOf(''))) discovered.profilers.add(profilerIdOf(item));
};

/** The partitions in which the run may have items. No other run and no customer has items there. */
const partitionsOf = (run: Run, { tokens, profilers, media, messages, references, people }: Discovered) => {
  const { account, user, bot } = run;
  return [
    accountKey(account).pk,
    numberKey(bot).pk,
    platformKey(account).pk,
    hookKey(account).pk,
    ...directions.map((direction) => circuitKey(destinationNameOf({ direction, account })).pk),
    profilersOf(account),
    jobCountersOf(account),
    waitsKey(account).pk,
    ...IDEMPOTENCY_KEYS.map((key) => idempotencyRecordKey(account, 'sendMessage', key).pk),
    // Of the user, and of the pseudonym under which a consent ends.
    ...deliveryStatuses.flatMap((outcome) => deliverySlots.map((slot) => deliveriesOf(account, slot, outcome))),
    rateKey(account).pk,
    allowanceKey(account, '', '').pk,
    ...conversationsOf(account, user).map((conversation) => headKey(conversationName(conversation)).pk),
    lastWrittenKey(account, user).pk,
    userKey(user).pk,
    contactKey(contactHash(user)).pk,
    removalKey(user).pk,
    erasureKey(user).pk,
    ...Object.values(USER_TEXTS).map((text) => minIntervalKey(hashOf([account, user, text])).pk),
    ...eventIdsOf(run).map((event) => eventKey(event).pk),
    // The receipt of an erasure of which RapidPro was notified.
    ...[...people].filter(isPseudonym).map((person) => eventKey(`user.stopped ${account} ${person}`).pk),
    ...[...tokens].map((sha256) => tokenKey(sha256).pk),
    ...[...profilers].flatMap((profiler) => [answersOf(profiler), resultsOf(profiler)]),
    // Markers of deletions, which a restore of the table would apply.
    deletionKey('platform', account).pk,
    ...[...profilers].map((profiler) => deletionKey('profiler', profiler).pk),
    ...[...media].map((one) => deletionKey('media', one).pk),
    ...[...tokens].map((sha256) => deletionKey('token', sha256).pk),
    ...messages,
    ...[...references].flatMap((reference) => [statusReceiptKey(account, reference, 0, '').pk]),
    ...[...people].map(consentReceiptsOf),
  ];
};

/** The keys of a partition of an index. */
const keysAt = async (index: string, partition: string): Promise<Key[]> => {
  const found: Key[] = [];
  for await (const keys of pages<Key>({
    IndexName: index,
    KeyConditionExpression: '#pk = :partition',
    ExpressionAttributeNames: { '#pk': `${index}pk` },
    ExpressionAttributeValues: { ':partition': partition },
    ProjectionExpression: 'pk, sk',
  })) {
    found.push(...keys);
  }
  return found;
};

/** Items by the prefix of their keys, which names no one. */
const kindsOf = (items: Key[]): Leftovers =>
  [...Map.groupBy(items, ({ pk }) => pk.split('#')[0] ?? '')].map(([kind, { length }]) => `${kind} ${length}`).sort();
