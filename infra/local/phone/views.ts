/** The data of the phone's page: each view is the response of `GET /view/…`. */

/** What the page reads anew when it hears that it has changed. */
export type Part = 'phones' | 'requests' | 'platforms' | 'funnel';

/** What stays as it is while the stack runs. */
export interface Setup {
  /** The demo user's phone. */
  demo_phone: string;
  bots: Bot[];
  properties: PropertyDescription[];
}

export interface Bot {
  number: string;
  name: string;
  platform: string;
}

export interface PropertyDescription {
  name: string;
  says: string;
  /** Whether a business gets it without asking. */
  automatic: boolean;
}

/** A line of the list of phones: `/view/phones`. */
export interface PhoneSummary {
  phone: string;
  /** What was said last, by whomever. */
  last: { text: string; time: string } | null;
  /** Ids of messages that nobody has reported as delivered, and as read. */
  undelivered: string[];
  unread: string[];
  /** How many requests wait for an answer. */
  asks: number;
}

/** `/view/phones/{phone}` */
export interface PhoneView {
  timeline: TimelineItem[];
  /** What was reported to the service about the user; none, if nothing was reported from here. */
  user: UserView | null;
}

export interface UserView {
  panelist: boolean;
  properties: Record<string, { value: string; source: string }>;
}

export type TimelineItem = ReceivedItem | RequestItem | WrittenItem;

export interface ReceivedItem {
  kind: 'received';
  id: string;
  time: string;
  /** The bot's number. */
  from: string | null;
  content: { type: 'text'; body: string } | { type: 'image' | 'file'; url: string };
  quick_replies: string[];
  /** What was reported to the service about it, in order. */
  states: ('delivered_to_user' | 'read' | 'delivery_failed')[];
}

export interface RequestItem {
  kind: 'request';
  id: string;
  time: string;
  business: string;
  reason: string;
  properties: { property: string; reason: string | null; required: boolean }[];
  answers: Record<string, 'approved' | 'denied'>;
}

export interface WrittenItem {
  kind: 'written';
  /** The event's id: who tries again brings the same. */
  id: string;
  time: string;
  to: string;
  text: string;
  outcome: 'sending' | 'taken' | 'refused' | 'unanswered';
  /** Why it was not taken. */
  detail: string | null;
}

/** A request to the service: `/view/requests`, newest first. */
export interface RequestView {
  id: string;
  time: string;
  route: string;
  status: number;
  account: string | null;
  ms: number;
}

/** Something that the service sent to a phone: `/view/deliveries`, newest first. */
export interface DeliveryView {
  id: string;
  phone: string | null;
  what: string;
  attempts: { time: string; outcome: string; taken: boolean }[];
}

/** A chat platform's line: `/view/platforms`. */
export interface PlatformView {
  platform: string;
  line: string;
  /** What the service brought, newest first. */
  got: { time: string; what: string; text: string; outcome: string; taken: boolean }[];
  /** What the platform sent, newest first. */
  sent: { to: string; text: string; status: string }[];
}

/** A job of today with how many messages reached which state: `/view/funnel`. */
export interface JobView {
  id: string;
  account: string;
  name: string;
  counts: Record<string, number>;
}
