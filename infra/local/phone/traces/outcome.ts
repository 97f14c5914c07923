/** What became of a trace: its five stages, and the words for its state. */
import { answersIn, type Facts } from './facts.ts';
import { at, jsonIn } from './record/capture.ts';
import type { Line, Trace } from './record/store.ts';
import type { Call, StageState, Stages, TraceRow } from './views.ts';

/** Where a message is in the line of its conversation, and when the first one is retried. */
export interface Waiting {
  /** 1 for the first. */
  place: number;
  retryAt: number | null;
}

interface Outcome extends Pick<TraceRow, 'outcome' | 'stages' | 'isPending' | 'isFailed'> {}

/** @param waiting - of a pending message, its place in the line, if it is known */
export const outcomeOf = (facts: Facts, trace: Trace, waiting: Waiting | undefined): Outcome => {
  const status = facts.call.response?.status ?? 0;
  const isFailed = status >= 400 || facts.failed !== undefined;
  if (status >= 400 || !isDelivery(facts)) {
    return { outcome: plain(String(status), status), stages: null, isPending: false, isFailed };
  }
  if (facts.type === 'job') return { ...ofJob(facts, trace), isFailed: false };
  if (facts.accepted === undefined) {
    return { outcome: plain('Repeat', status), stages: null, isPending: false, isFailed };
  }
  const isPending = facts.delivered === undefined && facts.failed === undefined;
  return { outcome: wordsFor(facts, waiting), stages: stagesOf(facts), isPending, isFailed };
};

const isDelivery = ({ type }: Facts): boolean =>
  type === 'to user' || type === 'from user' || type === 'consent request' || type === 'job';

const plain = (words: string, status: number): TraceRow['outcome'] => ({
  words,
  tone: status >= 400 ? 'bad' : 'ok',
  retryAt: null,
});

const ofJob = ({ call, queued }: Facts, { counts, lines }: Trace): Omit<Outcome, 'isFailed'> => {
  const total = jobSizeOf(call, lines);
  const delivered = Math.min(counts.delivered ?? 0, total);
  const failed = (counts['permanently failed'] ?? 0) + (counts['ended early'] ?? 0);
  const isDone = total > 0 && delivered === total;
  const accepted = (call.response?.status ?? 0) < 300 ? 'done' : 'failed';
  return {
    outcome: { words: `${delivered} of ${total}`, tone: isDone ? 'ok' : 'plain', retryAt: null },
    stages: [
      accepted,
      accepted,
      queued || delivered > 0 ? 'done' : 'empty',
      isDone ? 'done' : delivered > 0 ? 'active' : 'empty',
      'empty',
    ],
    isPending: delivered + failed < total,
  };
};

/** The number of a job's messages: in the response, which may list them, or in the line of its batch. */
const jobSizeOf = ({ response }: Call, lines: Line[]): number => {
  const messages = at(jsonIn(response?.body ?? ''), 'messages');
  if (Array.isArray(messages)) return messages.length;
  return typeof messages === 'number'
    ? messages
    : (lines.find(({ message }) => message === 'batch accepted')?.messages ?? 0);
};

const has = ({ reports }: Facts, ...names: string[]): boolean => reports.some(({ name }) => names.includes(name));

const stagesOf = (facts: Facts): Stages => {
  const { delivered, failed, retry, queued } = facts;
  const isQueued = queued || delivered || failed || retry;
  return ['done', 'done', isQueued ? 'done' : 'active', deliveryStage(facts), lastStage(facts)];
};

const deliveryStage = ({ delivered, failed, retry, queued }: Facts): StageState => {
  if (delivered) return 'done';
  if (failed) return 'failed';
  return retry || queued ? 'active' : 'empty';
};

/** Read; for a request, answered; for a user's message, the same as delivered. */
const lastStage = (facts: Facts): StageState => {
  if (facts.type === 'from user') return facts.delivered ? 'done' : 'empty';
  if (facts.type === 'consent request') return has(facts, 'user_data.answered') ? 'done' : 'empty';
  if (has(facts, 'delivery_failed')) return 'failed';
  return has(facts, 'read') ? 'done' : 'empty';
};

const failureWords: Record<string, string> = {
  cancelled: 'Job stopped',
  expired: 'Expired',
  opted_out: 'Stopped by the user',
};

const wordsFor = (facts: Facts, waiting: Waiting | undefined): TraceRow['outcome'] => {
  const { failed, delivered, retry } = facts;
  const say = (words: string, tone: TraceRow['outcome']['tone'], retryAt: number | null = null) => ({
    words,
    tone,
    retryAt,
  });
  if (failed) return say(failureWords[failed.reason ?? ''] ?? 'Refused', 'bad');
  if (!delivered) {
    if (waiting && waiting.place > 1) return say(`${ordinal(waiting.place)} in line`, 'warn');
    if (retry) return say('Retry scheduled', 'warn', waiting?.retryAt ?? null);
    return say('Pending', 'plain');
  }
  if (facts.type === 'from user') return say('Delivered', 'ok');
  if (facts.type === 'consent request') return answered(facts);
  if (has(facts, 'delivery_failed')) return say('Delivery failed', 'bad');
  if (has(facts, 'read')) return say('Read', 'ok');
  return say(has(facts, 'delivered_to_user') ? 'Delivered' : 'On the server', 'ok');
};

const answered = (facts: Facts): TraceRow['outcome'] => {
  const answers = facts.reports.flatMap(({ data }) => answersIn(data));
  if (answers.length === 0) return { words: 'Waiting', tone: 'plain', retryAt: null };
  const denied = answers.filter((answer) => answer === 'denied').length;
  if (denied === 0) return { words: 'Approved', tone: 'ok', retryAt: null };
  const words = denied === answers.length ? 'Denied' : `Denied ${denied} of ${answers.length}`;
  return { words, tone: 'plain', retryAt: null };
};

/** `2nd`, `3rd`, `11th` */
export const ordinal = (place: number): string => {
  const teen = place % 100 > 10 && place % 100 < 14;
  const end = teen ? 'th' : ({ 1: 'st', 2: 'nd', 3: 'rd' }[place % 10] ?? 'th');
  return `${place}${end}`;
};
