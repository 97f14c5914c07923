/** The words of the Jobs view. */
import { inDays, RETRY_DAYS } from '../../../../../shared/core/lifetimes.ts';
import type { JobParts, JobSummary } from '../../jobs/views.ts';
import { parsePhone } from '../data/phone-number.ts';

/** The filters of the list. A filter but the first one shows the jobs with this status. */
export const filters = [
  { name: 'all', label: 'All' },
  { name: 'running', label: 'Running' },
  { name: 'scheduled', label: 'Scheduled' },
  { name: 'completed', label: 'Completed' },
  { name: 'stopped', label: 'Stopped' },
] as const;

export const statusWords: Record<JobSummary['status'], string> = {
  running: 'Running',
  scheduled: 'Scheduled',
  completed: 'Completed',
  stopped: 'Stopped',
  open: 'Open',
};

/** The parts of a job in the order of its bar. */
export const partWords: { part: keyof JobParts; label: string }[] = [
  { part: 'read', label: 'Read' },
  { part: 'delivered_to_user', label: 'Delivered to user' },
  { part: 'delivered_to_server', label: 'Delivered to server' },
  { part: 'pending', label: 'Pending' },
  { part: 'failed', label: 'Failed' },
  { part: 'stopped', label: 'Stopped' },
  { part: 'not_sent', label: 'Not sent yet' },
];

const reasonWords: Record<string, string> = {
  refused: 'The app network rejected the message',
  unreachable: `No attempt succeeded for ${inDays(RETRY_DAYS)}`,
  cancelled: 'The job was stopped before',
  expired: 'Not delivered while it was valid',
  opted_out: 'The person stopped this business',
  bot_number_released: 'The business lost its number',
  no_platform: `The business had no chat platform for ${inDays(RETRY_DAYS)}`,
  user_erased: 'The person was removed from the app',
  unknown: 'The service could not build the message',
};

/** A reason code as a sentence. */
export const reasonOf = (code: string): string => reasonWords[code] ?? 'See the guide for businesses';

/** `6,480` */
export const figure = (count: number): string => count.toLocaleString('en');

/** `1 person`, `10,000 people` */
export const people = (count: number): string => (count === 1 ? '1 person' : `${figure(count)} people`);

/** `1 message`, `412 messages` */
export const messages = (count: number): string => (count === 1 ? '1 message' : `${figure(count)} messages`);

/** `65%`; `<1%` for a share that is not zero. */
export const percent = (count: number, of: number): string => {
  if (of === 0 || count === 0) return '0%';
  const share = (count / of) * 100;
  if (share < 1) return '<1%';
  return `${share > 99 && count < of ? 99 : Math.round(share)}%`;
};

/** `17 s left`, `4 min left`, `2 h left`; empty if the end is not known, or over. */
export const timeLeft = (end: string | null, now: number): string => {
  const seconds = end === null ? 0 : Math.ceil((Date.parse(end) - now) / 1_000);
  if (seconds <= 0) return '';
  if (seconds < 100) return `${seconds} s left`;
  const minutes = Math.round(seconds / 60);
  return minutes < 100 ? `${minutes} min left` : `${Math.round(minutes / 60)} h left`;
};

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const exactClock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const calendar = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', month: 'short' });

/** `10:43:02`, or `Sun 22 Nov, 10:43` on another day. */
export const momentOf = (time: string, now: number): string => {
  const at = new Date(time);
  return calendar.format(at) === calendar.format(now) ? exactClock.format(at) : dateOf(time);
};

/** `Mon 23 Nov, 08:00` */
export const dateOf = (time: string): string => {
  const at = new Date(time);
  return `${calendar.format(at).replace(',', '')}, ${clock.format(at)}`;
};

/** `7c1e40d2…b85e3f9a42` */
export const shortId = (id: string): string => (id.length > 20 ? `${id.slice(0, 8)}…${id.slice(-10)}` : id);

/** The title of a job. */
export const titleOf = ({ title }: Pick<JobSummary, 'title'>): string => title ?? 'Messages without a job';

/** The numbers in a text, without repeats; and what is no number. */
export const numbersIn = (text: string): { numbers: string[]; repeats: number; invalid: string[] } => {
  const given = text
    .split(/[\n,;\t]+/)
    .map((part) => part.trim())
    .filter((part) => part !== '');
  const parsed = given.map((part) => ({ part, ...parsePhone(part) }));
  const valid = parsed.flatMap((one) => ('phone' in one ? [one.phone] : []));
  const numbers = [...new Set(valid)];
  const invalid = parsed.flatMap((one) => ('phone' in one ? [] : [one.part]));
  return { numbers, repeats: valid.length - numbers.length, invalid };
};
