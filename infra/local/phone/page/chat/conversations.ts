/** The chats of a phone: its timeline, by business. */
import type { Bot, PhoneView, TimelineItem } from '../../views.ts';

export interface ChatSummary {
  /** The number of the business. */
  number: string;
  last: TimelineItem | undefined;
  /** The ids of the messages that the user has not read. */
  unread: string[];
  /** How many requests for data are open. */
  asks: number;
}

/** The number of the business that an item is from, or for; null if no business is known by the name in a request. */
const businessOf = (item: TimelineItem): string | null => (item.kind === 'written' ? item.to : item.from);

/** The items of a chat. A request of a business that is not known is in each chat, so that the user finds it. */
export const itemsOf = (timeline: TimelineItem[], number: string): TimelineItem[] =>
  timeline.filter((item) => (businessOf(item) ?? number) === number);

/** The business of a phone's last message; without one, the first business. */
export const lastBusiness = (timeline: TimelineItem[], bots: Bot[]): string =>
  timeline.flatMap((item) => businessOf(item) ?? []).at(-1) ?? bots[0]?.number ?? '';

const isOpenRequest = (item: TimelineItem): boolean =>
  item.kind === 'request' && item.properties.some(({ property }) => item.answers[property] === undefined);

const isUnread = (item: TimelineItem): boolean =>
  item.kind === 'received' && !item.states.some((state) => state === 'read' || state === 'delivery_failed');

/** All chats, those with the latest messages first. */
export const chatsOf = ({ timeline }: PhoneView, bots: Bot[]): ChatSummary[] => {
  const numbers = new Set([...bots.map(({ number }) => number), ...timeline.flatMap((item) => businessOf(item) ?? [])]);
  return [...numbers]
    .map((number): ChatSummary => {
      const items = itemsOf(timeline, number);
      return {
        number,
        last: items.at(-1),
        unread: items.filter(isUnread).map(({ id }) => id),
        asks: items.filter(isOpenRequest).length,
      };
    })
    .sort((a, b) => (b.last?.time ?? '').localeCompare(a.last?.time ?? ''));
};

/** An item as one line. */
export const gistOf = (item: TimelineItem): string => {
  if (item.kind === 'written') return item.text || 'Picture';
  if (item.kind === 'request') return 'Asks for your data';
  const { content } = item;
  return content.type === 'text' ? content.body : content.caption || NOUNS[content.type];
};

const NOUNS = { image: 'Picture', file: 'File', audio: 'Sound', video: 'Film' };
