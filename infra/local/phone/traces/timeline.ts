/** The life of a trace, as steps. */

import { LIFETIME_MS, RETRY_STEPS_MS } from '../../../../shared/delivery/retry-policy.ts';
import { answersIn, type Facts, type Report } from './facts.ts';
import { ordinal, type Waiting } from './outcome.ts';
import { at, jsonIn, textAt } from './record/capture.ts';
import type { Trace } from './record/store.ts';
import type { Call, Step } from './views.ts';

const destinationNames: Record<Call['server'], string> = {
  service: 'the service',
  app: 'the app network',
  rapidpro: 'RapidPro',
  turn: 'Turn',
};

export interface Context {
  /** Of a pending message: its place in the line, and how many are behind it. */
  waiting: (Waiting & { behind: number }) | undefined;
  /** The trace after which a platform sent the message, and the text of the user's message. */
  cause: { trace: string; text: string; platform: string } | undefined;
  person: string;
}

/** The steps in the order of time; then what is scheduled, and what is expected. */
export const stepsOf = (facts: Facts, trace: Trace, context: Context): Step[] => {
  const status = facts.call.response?.status ?? 0;
  const accepted = acceptedStep(facts, context);
  if (status >= 400) return [{ ...accepted, state: 'failed', title: 'Rejected' }];
  const past = [
    ...storedSteps(facts),
    ...queuedSteps(facts, context),
    ...attemptSteps(facts, trace),
    ...endSteps(facts),
    ...reportSteps(facts, context),
  ];
  return [accepted, ...past.sort((a, b) => (a.time ?? 0) - (b.time ?? 0)), ...comingSteps(facts, trace, context)];
};

const acceptedStep = ({ call }: Facts, { cause }: Context): Step => ({
  state: 'done',
  title: 'Accepted',
  code: call.route,
  ...(call.response && { status: call.response.status }),
  ms: call.ms,
  time: call.time,
  call,
  ...(cause && { note: `${cause.platform} sent it after “${cause.text}”.`, trace: cause.trace }),
});

const stored = {
  'to user': 'message, outbox entry, conversation head',
  'from user': 'message, outbox entry, conversation head',
  'consent request': 'request, outbox entry, conversation head',
};

const storedSteps = ({ accepted, type }: Facts): Step[] => {
  if (accepted === undefined) return [];
  const detail = Object.entries(stored).find(([known]) => known === type)?.[1];
  return [{ state: 'done', title: 'Stored', time: accepted.time, ...(detail && { detail }) }];
};

const queuedSteps = ({ queued }: Facts, { waiting, person }: Context): Step[] => {
  if (queued === undefined) return [];
  const line = waiting && `${ordinal(waiting.place)} in its conversation, ${waiting.behind} behind it`;
  return [
    {
      state: 'done',
      title: 'Queued',
      detail: `conversation with ${person}`,
      time: queued.time,
      ...(line && { note: line }),
    },
  ];
};

/** Whether a call delivers the subject itself. Other calls notify the platform about it. */
const delivers = ({ type, subject }: Facts, { server, path, body }: Call): boolean => {
  if (server === 'app') return type === 'job' || textAt(jsonIn(body), 'data', 'id') === subject;
  if (type === 'to user' || type === 'consent request') return false;
  return !/\/(?:sent|delivered|failed|statuses)$/.test(path);
};

const isAccepted = ({ response }: Call): boolean => response !== null && response.status < 300;

const attemptSteps = (facts: Facts, { deliveries, lines }: Trace): Step[] => {
  const attempts = deliveries.filter((call) => delivers(facts, call));
  const notices = deliveries.filter((call) => !delivers(facts, call));
  const circuits = lines.filter(({ message }) => message === 'circuit opened');
  return [
    ...attempts.map(
      (call, place): Step => ({
        ...callStep(call),
        ...(facts.type === 'job'
          ? { title: 'Delivery', detail: `to …${(textAt(jsonIn(call.body), 'data', 'to') ?? '').slice(-4)}` }
          : { title: `Attempt ${place + 1}`, detail: `to ${destinationNames[call.server]}` }),
        ...(call.response === null && { note: `${capital(destinationNames[call.server])} gave no response.` }),
      }),
    ),
    ...notices.map(
      (call): Step => ({
        ...callStep(call),
        title: `${destinationNames[call.server]} notified`,
        code: noticeOf(call),
      }),
    ),
    ...circuits.map(
      ({ time }): Step => ({
        state: 'circuit',
        title: 'Circuit open',
        time,
        note: 'The destination failed several times in a row. One conversation probes it; the others wait.',
      }),
    ),
  ];
};

const callStep = (call: Call): Omit<Step, 'title'> => ({
  state: isAccepted(call) ? 'done' : 'failed',
  status: call.response?.status ?? 'no response',
  ms: call.ms,
  time: call.time,
  call,
});

/** The status that a notice reports: the last segment of RapidPro's URL, or a field of Turn's body. */
const noticeOf = ({ server, path, body }: Call): string =>
  (server === 'turn' ? textAt(jsonIn(body), 'status', 'status') : path.split('/').at(-1)) ?? '';

const endSteps = (facts: Facts): Step[] => {
  const { delivered, failed } = facts;
  if (failed) {
    const note = failed.message === 'ended early' ? 'It ended before its delivery.' : 'No further attempt is made.';
    return [{ state: 'failed', title: 'Failed', code: failed.cause ?? failed.reason ?? '', time: failed.time, note }];
  }
  return delivered ? [{ state: 'done', title: deliveredTitle(facts), time: delivered.time }] : [];
};

const deliveredTitle = ({ type }: Facts): string => {
  if (type === 'to user') return 'Delivered to server';
  return type === 'consent request' ? 'Delivered to the phone' : 'Delivered to the platform';
};

const reportTitles: Record<string, string> = {
  delivered_to_user: 'Delivered to user',
  read: 'Read',
  delivery_failed: 'Delivery failed',
  'user_data.withdrawn': 'Withdrawn',
};

const reportSteps = ({ reports, type }: Facts, { person }: Context): Step[] =>
  type === 'to user' || type === 'consent request' ? reports.map((report) => reportStep(report, person)) : [];

const reportStep = ({ name, time, call, data }: Report, person: string): Step => {
  if (name === 'user_data.answered') {
    const answers = Object.entries(Object(at(data, 'answers'))).map(
      ([property, answer]) => `${property.replaceAll('_', ' ')} ${answer}`,
    );
    const isDenied = answersIn(data).every((answer) => answer === 'denied');
    return {
      state: 'done',
      title: isDenied ? `Denied by ${person}` : `Answered by ${person}`,
      detail: answers.join(', '),
      time,
      call,
    };
  }
  return {
    state: name === 'delivery_failed' ? 'failed' : 'done',
    title: reportTitles[name] ?? name,
    detail: 'reported by the app network',
    time,
    call,
  };
};

const comingSteps = (facts: Facts, { deliveries }: Trace, { waiting }: Context): Step[] => {
  const { accepted, delivered, failed, retry, type, call } = facts;
  if (accepted === undefined || delivered || failed) return [];
  const expected: Step = { state: 'expected', title: deliveredTitle(facts) };
  const made = deliveries.filter((one) => delivers(facts, one)).length;
  if (type === 'job' || waiting?.retryAt == null || waiting.place > 1) return [expected];
  const until = call.time + LIFETIME_MS;
  return [
    {
      state: 'scheduled',
      title: `Attempt ${made + 1}`,
      time: waiting.retryAt,
      retry: { failed: retry?.attempts ?? 1, at: waiting.retryAt, until, steps: RETRY_STEPS_MS },
    },
    expected,
  ];
};

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
