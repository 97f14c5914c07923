/** Views of phones and their conversations: the messages from the service, and the events that users reported. */
import type { AppNetwork } from '../simulators/app-network/app-network.ts';
import type { AppEvent } from '../simulators/app-network/inbox.ts';
import type { PhoneSummary, PhoneView, ReceivedItem, RequestItem, TimelineItem, WrittenItem } from './views.ts';

type Network = Pick<AppNetwork, 'inbox' | 'reportedEvents'>;

/** Every phone with messages or a reported user, by the time of the last message, newest first. */
export const phonesOf = (network: Network): PhoneSummary[] => {
  const { inbox, reportedEvents } = network;
  const numbers = new Set([...inbox.phones.map(({ phone }) => phone), ...reportedEvents.phones]);
  return [...numbers]
    .map((phone) => summaryOf(network, phone))
    .sort((a, b) => compare(b.last?.time ?? '', a.last?.time ?? '') || compare(a.phone, b.phone));
};

const summaryOf = (network: Network, phone: string): PhoneSummary => {
  const timeline = timelineOf(network, phone);
  const last = timeline.at(-1);
  const received = timeline.filter((item) => item.kind === 'received');
  const without = (...states: ReceivedItem['states']) =>
    received.filter((item) => !states.some((state) => item.states.includes(state))).map(({ id }) => id);
  return {
    phone,
    last: last ? { text: gist(last), time: last.time } : null,
    undelivered: without('delivered_to_user', 'read', 'delivery_failed'),
    unread: without('read', 'delivery_failed'),
    asks: timeline.filter((item) => item.kind === 'request' && isOpen(item)).length,
  };
};

export const phoneViewOf = (network: Network, phone: string): PhoneView => ({
  timeline: timelineOf(network, phone),
  user: network.reportedEvents.userOf(phone) ?? null,
});

/** Both sides of a conversation, in the order of time. */
const timelineOf = ({ inbox, reportedEvents }: Network, phone: string): TimelineItem[] => {
  const came = inbox.timelineOf(phone).map(({ message: { type, data }, since }): ReceivedItem | RequestItem => {
    const event = { type, data } as AppEvent;
    return event.type === 'message.send'
      ? received(event.data, since, reportedEvents)
      : asked(event.data, since, reportedEvents);
  });
  const written = reportedEvents.writtenBy(phone).map(
    ({ event_id, ...message }): WrittenItem => ({
      kind: 'written',
      id: event_id,
      ...message,
    }),
  );
  return [...written, ...came].sort((a, b) => compare(a.time, b.time));
};

type MessageData = Extract<AppEvent, { type: 'message.send' }>['data'];
type RequestData = Extract<AppEvent, { type: 'user_data.request' }>['data'];

const received = (data: MessageData, time: string, reportedEvents: Network['reportedEvents']): ReceivedItem => ({
  kind: 'received',
  id: data.id,
  time,
  from: data.from ?? null,
  content: contentOf(data),
  quick_replies: 'quick_replies' in data && Array.isArray(data.quick_replies) ? data.quick_replies.map(String) : [],
  states: reportedEvents.statesOf(data.id).map(({ state }) => state),
});

const contentOf = (data: MessageData): ReceivedItem['content'] => {
  if (data.type === 'text') return { type: 'text', body: data.text.body };
  return { type: data.type, url: data.type === 'image' ? data.image.url : data.file.url };
};

const asked = (data: RequestData, time: string, reportedEvents: Network['reportedEvents']): RequestItem => ({
  kind: 'request',
  id: data.id,
  time,
  business: data.business,
  reason: data.reason,
  properties: data.properties.map(({ property, reason, required }) => ({
    property,
    reason: typeof reason === 'string' ? reason : null,
    required: required === true,
  })),
  answers: reportedEvents.answersTo(data.id),
});

const isOpen = ({ properties, answers }: RequestItem): boolean =>
  properties.some(({ property }) => answers[property] === undefined);

/** An item as one line. */
const gist = (item: TimelineItem): string => {
  if (item.kind === 'written') return `You: ${item.text}`;
  if (item.kind === 'request') return `${item.business} asks for your data`;
  return item.content.type === 'text' ? item.content.body : item.content.type === 'image' ? 'An image' : 'A file';
};

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
