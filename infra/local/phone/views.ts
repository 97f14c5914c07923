/** The data of the phone's page: each view is the response of `GET /view/…`. */

/** The views that the live feed names when they have changed. */
export type Part = 'phones' | 'traces' | 'funnel' | 'destinations' | 'clock';

/** What all phones have in common: `/view/setup`. */
export interface Setup {
  /** The demo user's phone. */
  demo_phone: string;
  /** The URL of the documentation. */
  docs_url: string;
  /** The URL of the API. */
  api_url: string;
  bots: KnownBot[];
  properties: PropertyDescription[];
}

export interface Bot {
  /** The id of its account. */
  id: string;
  number: string;
  name: string;
  platform: string;
}

/** A bot that users can write to. */
export interface KnownBot extends Bot {
  /** Whether the page can send as its business: it has a token of it. */
  sends: boolean;
}

export interface PropertyDescription {
  name: string;
  description: string;
  /** Whether it is granted without the user's approval. */
  automatic: boolean;
}

/** An entry in the list of phones: `/view/phones`. */
export interface PhoneSummary {
  phone: string;
  /** The first name in the reported profile. */
  name: string | null;
  /** The last name in the reported profile. */
  lastName: string | null;
  /** Ids of the messages that are not reported as read. */
  unread: string[];
  /** How many user data requests are open. */
  asks: number;
}

/** `/view/phones/{phone}` */
export interface PhoneView {
  /** Its entry in the list, which may not contain it. */
  summary: PhoneSummary;
  timeline: TimelineItem[];
  /** The profile that was reported to the service; null if nothing was reported from here. */
  user: UserView | null;
}

/** What a business knows about a user: `/view/phones/{phone}/consents`, in the order of the businesses. */
export interface ConsentView {
  business: Pick<Bot, 'id' | 'name' | 'number'>;
  /** Whether the user has stopped it. */
  stopped: boolean;
  known: KnownProperty[];
}

/** A property that a business got, by one or several requests. */
export interface KnownProperty {
  property: string;
  /** The value in the user's profile; null if the profile has none, or the consent has ended. */
  value: string | null;
  /** The time of the last release. */
  since: string;
  /** Until when the business may use it; null if there is no end, or the consent has ended. */
  until: string | null;
  state: 'approved' | 'withdrawn' | 'expired';
  /** When the consent ended; null if it has not. */
  ended: string | null;
  /** Whether the business has acknowledged that its copy is deleted; null if the consent has not ended. */
  deletion: 'owed' | 'done' | null;
  /** The ids of the requests whose consent the user can withdraw here: none of automatic properties. */
  requests: string[];
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
  content:
    | { type: 'text'; body: string }
    | { type: 'image' | 'file' | 'audio' | 'video'; url: string; caption: string };
  quick_replies: string[];
  /** The reported states that the service has stored, in order. */
  states: ('delivered_to_user' | 'read' | 'delivery_failed')[];
}

export interface RequestItem {
  kind: 'request';
  id: string;
  time: string;
  business: string;
  /** The number of the business; null if no business has this name. */
  from: string | null;
  reason: string;
  properties: { property: string; reason: string | null; required: boolean }[];
  /** For how many days the consent is valid; null if it has no end. */
  valid_days: number | null;
  answers: Record<string, 'approved' | 'denied' | 'withdrawn' | 'expired'>;
}

export interface WrittenItem {
  kind: 'written';
  /** The event's id. A repeat has the same id. */
  id: string;
  time: string;
  to: string;
  text: string;
  /** The URL of a picture. */
  picture: string | null;
  outcome: 'sending' | 'taken' | 'refused' | 'unanswered';
  /** Why it was not accepted. */
  detail: string | null;
  /** Whether the platform of the business has accepted it. */
  delivered: boolean;
}

/** A job of today, with the number of messages by state: `/view/funnel`. */
export interface JobCounts {
  id: string;
  account: string;
  name: string;
  counts: Record<string, number>;
}
