/** The titles of traces. */
import { answersIn, type Facts } from './facts.ts';
import { eventsIn } from './record/app-events.ts';
import { at, jsonIn, textAt } from './record/capture.ts';
import type { TraceRow } from './views.ts';

/** What a message is, in words and as an icon. */
const KINDS = {
  text: { noun: 'Message', icon: 'chat' },
  image: { noun: 'Picture', icon: 'picture' },
  file: { noun: 'File', icon: 'file' },
  audio: { noun: 'Sound', icon: 'file' },
  video: { noun: 'Film', icon: 'file' },
  location: { noun: 'Location', icon: 'place' },
} as const;

/** What traces call people and businesses. */
export interface Names {
  /** The first name of a user, or the end of the number. */
  person: (phone: string | null) => string;
  /** The name of an account. */
  business: (account: string | null) => string;
}

type Title = Pick<TraceRow, 'icon' | 'byUser' | 'title' | 'preview' | 'kind'>;

export const titleOf = (facts: Facts, names: Names): Title => {
  const { call, type } = facts;
  const status = call.response?.status ?? 0;
  if (status >= 400) {
    return {
      icon: 'cross',
      byUser: false,
      title: call.route,
      preview: problemIn(call.response?.body ?? ''),
      kind: kindOf(call.route),
    };
  }
  const person = names.person(facts.phone);
  const preview = facts.content?.text ?? '';
  switch (type) {
    case 'to user': {
      const { noun, icon } = KINDS[facts.content?.type ?? 'text'];
      return {
        icon,
        byUser: false,
        title: `${noun} to ${person}`,
        preview,
        kind: 'messages',
      };
    }
    case 'from user':
      return {
        ...{ icon: 'reply', byUser: true, preview, kind: 'messages' },
        title: `${KINDS[facts.content?.type ?? 'text'].noun} from ${person}`,
      };
    case 'consent request':
      return {
        icon: 'shield',
        byUser: false,
        title: `Consent request to ${person}`,
        preview: `“${preview}”`,
        kind: 'consent',
      };
    case 'job':
      return { icon: 'layers', byUser: false, title: `Job of ${jobSize(facts)}`, preview, kind: 'messages' };
    case 'states': {
      const states = eventsIn(call.body).map(({ data }) => textAt(data, 'state') ?? '');
      return {
        icon: 'activity',
        byUser: true,
        title: states.length === 1 ? `State reported by ${person}` : `${states.length} states reported`,
        preview: [...new Set(states)].join(', '),
        kind: 'messages',
      };
    }
    case 'event':
      return eventTitle(facts, names);
    case 'request':
      return requestTitle(facts, person);
  }
};

const jobSize = ({ call }: Facts): string => {
  const body = jsonIn(call.body);
  const to = at(body, 'to') ?? at(body, 'messages') ?? body;
  return Array.isArray(to) ? `${to.length.toLocaleString('en')} messages` : 'messages';
};

const eventTitle = (facts: Facts, names: Names): Title => {
  const { event, account, phone } = facts;
  const person = names.person(phone);
  const business = names.business(account);
  const consent = { icon: 'shield', byUser: true, kind: 'consent' } as const;
  const profile = { icon: 'person', byUser: true, kind: 'other', preview: '' } as const;
  switch (event?.type) {
    case 'user_data.answered': {
      const answers = answersIn(event.data);
      const verb = answers.every((one) => one === 'approved')
        ? 'approved'
        : answers.every((one) => one === 'denied')
          ? 'denied'
          : 'answered';
      return { ...consent, title: `Consent ${verb} by ${person}`, preview: `${business}: ${propertiesIn(event.data)}` };
    }
    case 'user_data.withdrawn':
      return {
        ...consent,
        title: `Consent withdrawn by ${person}`,
        preview: `${business}: ${propertiesIn(event.data)}`,
      };
    case 'user.updated':
      return { ...profile, title: `Profile of ${person} reported` };
    case 'user.removed':
      return { ...profile, title: `${person} removed from the app` };
    case 'user.stopped':
      return { ...profile, title: `Business stopped by ${person}` };
    case 'user.started':
      return { ...profile, title: `Business started again by ${person}` };
    default:
      return { ...profile, title: event?.type ?? 'Events of the app' };
  }
};

const propertiesIn = (data: unknown): string => {
  const answers = at(data, 'answers');
  const properties = at(data, 'properties');
  const names = Array.isArray(properties) ? properties.map(String) : Object.keys(Object(answers));
  return names.map((name) => name.replaceAll('_', ' ')).join(', ');
};

const requestTitles: Record<string, { title: string; icon: TraceRow['icon'] }> = {
  'POST /v1/research_profilers': { title: 'Profiler created', icon: 'list' },
  'POST /v1/profiler_answer': { title: 'Profiler answered', icon: 'list' },
  'POST /v1/profiler_answers': { title: 'Profilers answered', icon: 'list' },
  'POST /v1/upload_file': { title: 'File uploaded', icon: 'upload' },
  'POST /v1/upload_image': { title: 'Picture uploaded', icon: 'upload' },
  'POST /v1/user_data/fetch/{id}': { title: 'User data fetched', icon: 'person' },
  'GET /v1/user_data/fetch/{id}': { title: 'User data fetched', icon: 'person' },
  'POST /v1/user_data/{request_id}/deleted': { title: 'Deletion confirmed', icon: 'shield' },
};

const requestTitle = ({ call, phone }: Facts, person: string): Title => {
  const known = requestTitles[call.route];
  const title = known?.title ?? call.route;
  const preview = known && phone ? `Of ${person}` : known ? (textAt(jsonIn(call.body), 'question') ?? call.route) : '';
  return { icon: known?.icon ?? 'activity', byUser: false, title, preview, kind: kindOf(call.route) };
};

const kindOf = (route: string): TraceRow['kind'] => {
  if (/profiler|audience/.test(route)) return 'profilers';
  if (/user_data/.test(route)) return 'consent';
  return /message|webhook/.test(route) ? 'messages' : 'other';
};

/** Why a request was rejected, on one line. */
const problemIn = (body: string): string => {
  const problem = jsonIn(body);
  const errors = at(problem, 'errors');
  if (Array.isArray(errors) && errors.length > 0) {
    const places = errors
      .slice(0, 3)
      .map((error) => (textAt(error, 'pointer') ?? textAt(error, 'parameter') ?? '').replace('#/', ''));
    return `${errors.length === 1 ? '1 validation error' : `${errors.length} validation errors`}: ${places.filter(Boolean).join(', ')}`;
  }
  return textAt(problem, 'detail') ?? textAt(problem, 'message') ?? '';
};
