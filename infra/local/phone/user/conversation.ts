/** Views of phones and their conversations: the messages from the service, and the events that users reported. */
import { now } from '../../../../shared/core/clock.ts';
import { mediaOf } from '../../../../shared/outbox/event.ts';
import { demoBots } from '../../demo.ts';
import type { AppNetwork } from '../../simulators/app-network/app-network.ts';
import type { PhoneEvent } from '../../simulators/app-network/inbox.ts';
import type { Decision, ReportedState } from '../../simulators/app-network/reported-events.ts';
import { isMadeUp } from '../../simulators/app-network/simulated-users.ts';
import { compare } from '../times.ts';
import type { PhoneSummary, PhoneView, ReceivedItem, RequestItem, TimelineItem, WrittenItem } from '../views.ts';
import { storedStatesOf } from './stored-states.ts';

export interface Network extends Pick<AppNetwork, 'inbox' | 'reportedEvents'> {
  /** Whether the platform has accepted the message that a user wrote with this event. */
  isDelivered: (event: string) => boolean;
}

/** Most phones in the list of those that only received messages: a job may have 10,000 recipients. */
const MOST_RECEIVERS = 50;

/**
 * The phones of all users who wrote, or about whom something was reported, and the last 50 others that received messages;
 * without those of made-up users. Within both, that with the last message comes first.
 */
export const phonesOf = (network: Network): PhoneSummary[] => {
  const users = network.reportedEvents.phones;
  const receivers = network.inbox.phones.map(({ phone }) => phone).filter((phone) => !users.has(phone));
  return [...byLastTime(network, [...users]), ...byLastTime(network, receivers).slice(0, MOST_RECEIVERS)].map((phone) =>
    summaryOf(network, phone, timelineOf(network, phone)),
  );
};

const byLastTime = (network: Network, phones: string[]): string[] =>
  phones
    .filter((phone) => !isMadeUp(phone))
    .map((phone) => ({ phone, last: lastTimeOf(network, phone) }))
    .sort((a, b) => compare(b.last, a.last) || compare(a.phone, b.phone))
    .map(({ phone }) => phone);

/** The time of a phone's last message of either side; empty if there is none. */
const lastTimeOf = ({ inbox, reportedEvents }: Network, phone: string): string =>
  [inbox.timelineOf(phone).at(-1)?.since ?? '', reportedEvents.writtenBy(phone).at(-1)?.time ?? ''].sort().at(-1) ?? '';

const summaryOf = (network: Network, phone: string, timeline: TimelineItem[]): PhoneSummary => {
  const received = timeline.filter((item) => item.kind === 'received');
  const properties = network.reportedEvents.userOf(phone)?.properties;
  const unread = received.filter(({ states }) => !states.includes('read') && !states.includes('delivery_failed'));
  return {
    phone,
    name: properties?.first_name?.value ?? null,
    lastName: properties?.last_name?.value ?? null,
    unread: unread.map(({ id }) => id),
    asks: timeline.filter((item) => item.kind === 'request' && isOpen(item)).length,
  };
};

export const phoneViewOf = async (network: Network, phone: string): Promise<PhoneView> => {
  // If the table cannot be read now, the states are those that the app has reported.
  const stored = await storedStatesOf(phone).catch(() => undefined);
  const timeline = timelineOf(network, phone, stored && ((id) => (stored.get(id) ?? []).filter(isReported)));
  return {
    summary: summaryOf(network, phone, timeline),
    timeline,
    user: network.reportedEvents.userOf(phone) ?? null,
  };
};

const REPORTED: readonly string[] = ['delivered_to_user', 'read', 'delivery_failed'] satisfies ReportedState[];

const isReported = (state: string): state is ReportedState => REPORTED.includes(state);

/** The states of a message, by its id. */
type StatesOf = (id: string) => ReportedState[];

/**
 * Both sides of a conversation, in the order of time.
 *
 * @param statesOf - default: those that the app has reported
 */
const timelineOf = (
  { inbox, reportedEvents, isDelivered }: Network,
  phone: string,
  statesOf: StatesOf = (id) => reportedEvents.statesOf(id).map(({ state }) => state),
): TimelineItem[] => {
  const came = inbox.timelineOf(phone).map(({ message: { type, data }, since }): ReceivedItem | RequestItem => {
    const event = { type, data } as PhoneEvent;
    return event.type === 'message.send'
      ? received(event.data, since, statesOf(event.data.id))
      : asked(event.data, since, { inbox, reportedEvents });
  });
  const written = reportedEvents.writtenBy(phone).map(
    ({ event_id, ...message }): WrittenItem => ({
      kind: 'written',
      id: event_id,
      ...message,
      delivered: isDelivered(event_id),
    }),
  );
  return [...written, ...came].sort((a, b) => compare(a.time, b.time));
};

type MessageData = Extract<PhoneEvent, { type: 'message.send' }>['data'];
type RequestData = Extract<PhoneEvent, { type: 'user_data.request' }>['data'];

const received = (data: MessageData, time: string, states: ReportedState[]): ReceivedItem => ({
  kind: 'received',
  id: data.id,
  time,
  from: data.from ?? null,
  content: contentOf(data),
  quick_replies: 'quick_replies' in data && Array.isArray(data.quick_replies) ? data.quick_replies.map(String) : [],
  states,
});

const contentOf = (data: MessageData): ReceivedItem['content'] => {
  if (data.type === 'text') return { type: 'text', body: data.text.body };
  const { url, caption = '' } = mediaOf(data) ?? { url: '' };
  return { type: data.type, url, caption };
};

const asked = (
  data: RequestData,
  time: string,
  { inbox, reportedEvents }: Pick<Network, 'inbox' | 'reportedEvents'>,
): RequestItem => ({
  kind: 'request',
  id: data.id,
  time,
  business: data.business,
  from: numberOf(data.business, inbox),
  reason: data.reason,
  properties: data.properties.map(({ property, reason, required }) => ({
    property,
    reason: typeof reason === 'string' ? reason : null,
    required: required === true,
  })),
  valid_days: data.valid_days ?? null,
  answers: answersTo(data, reportedEvents.decisionsOn(data.id)),
});

/** The number of the business with this name: as the app network knows it, or one of the demo's. */
const numberOf = (business: string, { businesses }: Network['inbox']): string | null =>
  businesses.find(({ name }) => name === business)?.bot ??
  demoBots.find(({ name }) => name === business)?.number ??
  null;

/** The answers to the properties that a request asks for. */
const answersTo = ({ properties, valid_days }: RequestData, decisions: Record<string, Decision>) =>
  Object.fromEntries(
    properties.flatMap(({ property }) => {
      const decision = decisions[property];
      return decision ? [[property, stateOf(decision, valid_days)]] : [];
    }),
  );

const stateOf = ({ state, answered }: Decision, days: number | undefined): Decision['state'] | 'expired' =>
  state === 'approved' && days !== undefined && Date.parse(answered) + days * 86_400_000 <= now() ? 'expired' : state;

const isOpen = ({ properties, answers }: RequestItem): boolean =>
  properties.some(({ property }) => answers[property] === undefined);
