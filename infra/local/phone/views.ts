/** The data of the phone's page: each view is the response of `GET /view/…`. */

/** The views that the live feed names when they have changed. */
export type Part = 'phones' | 'requests' | 'platforms' | 'funnel';

/** Data that does not change while the stack runs: `/view/setup`. */
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
  /** Whether it is granted without the user's approval. */
  automatic: boolean;
}

/** An entry in the list of phones: `/view/phones`. */
export interface PhoneSummary {
  phone: string;
  /** The last message, of either side. */
  last: { text: string; time: string } | null;
  /** Ids of the messages that are not reported as delivered, and not as read. */
  undelivered: string[];
  unread: string[];
  /** How many user data requests are open. */
  asks: number;
}

/** `/view/phones/{phone}` */
export interface PhoneView {
  timeline: TimelineItem[];
  /** The profile that was reported to the service; null if nothing was reported from here. */
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
  /** The states that were reported to the service, in order. */
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
  /** The event's id. A repeat has the same id. */
  id: string;
  time: string;
  to: string;
  text: string;
  outcome: 'sending' | 'taken' | 'refused' | 'unanswered';
  /** Why it was not accepted. */
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

/** A delivery to a phone, with its attempts: `/view/deliveries`, newest first. */
export interface DeliveryView {
  id: string;
  phone: string | null;
  what: string;
  attempts: { time: string; outcome: string; taken: boolean }[];
}

/** A channel of a chat platform: `/view/platforms`. */
export interface PlatformView {
  platform: string;
  line: string;
  /** Calls of the service, newest first. */
  got: { time: string; what: string; text: string; outcome: string; taken: boolean }[];
  /** Messages that the platform sent, newest first. */
  sent: { to: string; text: string; status: string }[];
}

/** A job of today, with the number of messages by state: `/view/funnel`. */
export interface JobView {
  id: string;
  account: string;
  name: string;
  counts: Record<string, number>;
}
