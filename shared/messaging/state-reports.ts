/** States of messages that the app network reports, in batches. */
import { timestamp } from '../core/clock.ts';
import { conversationName, messageKey, stateKey } from '../outbox/entities.ts';
import { enqueue, transactInOrder } from '../outbox/entries.ts';
import { conversationAbout } from '../outbox/event.ts';
import { type LogItem, type Message, messageOf, type State } from '../outbox/message.ts';
import { type ReachedState, reportOf, stateItem } from '../outbox/states.ts';
import { getManyConsistent, getManyEventual, putIfAbsent } from '../table/client.ts';
import { putIfAbsentWrite } from '../table/transactions.ts';
import { measure } from '../telemetry/metrics.ts';

/** A state that a message reached, by the message's id. */
interface StateReport {
  id: string;
  state: State;
}

/** Messages to users, by id. */
export type Messages = Map<string, Message>;

/**
 * The messages to users with these ids. 0.5 read units for each. If a message is not found, a consistent read follows,
 * which finds new messages: 1 more read unit.
 */
export const findMessages = async (ids: string[]): Promise<Messages> => {
  const items = await getManyEventual<LogItem[]>(ids.map(messageKey));
  const missed = ids.filter((_, index) => items[index] === undefined);
  const late = await getManyConsistent<LogItem[]>(missed.map(messageKey));
  const sent = [...items, ...late].filter((item) => item?.state === 'sent');
  return new Map(sent.flatMap((item) => (item ? [[messageOf(item).id, messageOf(item)]] : [])));
};

/** The keys of states that are logged. */
export type Logged = ReadonlySet<string>;

/** The states of this list that are logged. The latest ones may be missing. 0.5 read units for each. */
export const findLogged = async (reports: StateReport[]): Promise<Logged> => {
  const entries = await getManyEventual<LogItem[]>(reports.map(({ id, state }) => stateKey(id, state)));
  return new Set(reports.filter((_, index) => entries[index] !== undefined).map(nameOf));
};

export const isLogged = (report: StateReport, logged: Logged): boolean => logged.has(nameOf(report));

const nameOf = ({ id, state }: StateReport): string => `${state} ${id}`;

/** A state that a message reaches, with the reason if it is a failure. */
export type StateChange = Omit<ReachedState, 'created'>;

/** Most states of a transaction. It takes 100 writes: two for each state, and one for the head of the outbox. */
const CHUNK = 49;

/**
 * Logs states of messages of one account and user, in this order, and notifies the account's platform of the messages
 * that it must be notified of. States that are already logged change nothing. 1 write unit for each state, and 3 on the
 * indexes. If the platform is notified: 4 for each state, and 2 for each transaction of up to 49 states.
 */
export const recordStates = async (changes: StateChange[]): Promise<void> => {
  // A transaction must not contain an item twice.
  const each = [...new Map(changes.map((change) => [nameOf({ ...change, id: change.message.id }), change])).values()];
  for (let start = 0; start < each.length; ) {
    const chunk = chunkAt(each, start);
    if (chunk.every(({ message }) => message.reported)) await recordAndReport(chunk);
    else for (const change of chunk) await record(change);
    start += chunk.length;
  }
};

/** The next changes that are written in the same way: with a notification of the platform, in one conversation, or without. */
const chunkAt = (changes: StateChange[], start: number): StateChange[] => {
  const chunk = changes.slice(start, start + CHUNK);
  const wayOf = ({ message }: StateChange): string =>
    `${message.reported} ${conversationName(conversationAbout('platform', message))}`;
  const end = chunk.findIndex((change, index) => index > 0 && wayOf(change) !== wayOf(chunk[0] ?? change));
  return end === -1 ? chunk : chunk.slice(0, end);
};

const record = async (change: StateChange): Promise<void> => {
  const logged = await putIfAbsent(stateItem({ ...change, created: timestamp() }));
  if (logged === undefined) measureState(change);
};

const recordAndReport = async (changes: StateChange[]): Promise<void> => {
  let left = changes.map((change) => ({ ...change, created: timestamp() }));
  for (;;) {
    const [first] = left;
    if (first === undefined) return;
    const failed = new Set(
      await transactInOrder((after) => {
        const { ids, writes } = enqueue(
          conversationAbout('platform', first.message),
          left.map((one) => ({ outgoing: reportOf(one) })),
          after,
        );
        return [
          ...left.map((change, index) => putIfAbsentWrite({ ...stateItem(change), report: ids[index] })),
          ...writes,
        ];
      }),
    );
    if (failed.size === 0) return left.forEach(measureState);
    // Another request has logged the failed ones in the meantime.
    left = left.filter((_, index) => !failed.has(index));
  }
};

const measureState = ({ message, state }: StateChange): void =>
  measure(state === 'delivery_failed' ? 'warn' : 'info', 'state', {
    account: message.account,
    message_id: message.id,
    state,
    states: 1,
  });
