/** Texts of what becomes of messages, events and campaigns: steps, failures with their causes, and what can be done. */
import type { ReasonCode, State } from '../../../shared/outbox/message.ts';

/** A step of a message, or that it is for later. */
export type Step = State | 'scheduled';

export interface Explanation {
  cause: string;
  /** What can be done. */
  fix: string;
}

const steps: Record<Step, { label: string; meaning: string }> = {
  scheduled: { label: 'Scheduled', meaning: 'It is accepted, and will be sent later.' },
  sent: { label: 'Sent', meaning: 'The service accepted it.' },
  delivered_to_server: { label: 'On its way', meaning: 'The app’s server accepted it for the phone.' },
  delivered_to_user: { label: 'Delivered', meaning: 'The phone received it.' },
  read: { label: 'Read', meaning: 'The person opened it.' },
  received: { label: 'Received', meaning: 'The person wrote it, and the service accepted it.' },
  sending_failed: { label: 'Not sent', meaning: 'It did not reach the app’s server.' },
  delivery_failed: { label: 'Not delivered', meaning: 'It did not reach the phone.' },
  reception_failed_http: { label: 'Not passed on', meaning: 'Your system did not accept the person’s message.' },
};

const isStep = (state: string): state is Step => Object.hasOwn(steps, state);

/** `Delivered`; the state itself, if the portal does not know it yet. */
export const stepLabel = (state: string): string => (isStep(state) ? steps[state].label : state);

export const stepMeaning = (state: string): string => (isStep(state) ? steps[state].meaning : '');

const reasons: Record<ReasonCode, Explanation> = {
  refused: {
    cause: 'The app rejected it.',
    fix: 'Check the number: the person may not use the app, or no longer.',
  },
  unreachable: { cause: 'No attempt succeeded for three days.', fix: 'Send it again.' },
  cancelled: {
    cause: 'The campaign was stopped before its turn.',
    fix: 'If the person should get it after all, send it in a new campaign.',
  },
  expired: {
    cause: 'It could not be sent while it was of use.',
    fix: 'If it is still of use, send it again, and give it more time.',
  },
  opted_out: {
    cause: 'The person has stopped your messages.',
    fix: 'Send nothing until the person starts them again.',
  },
  bot_number_released: {
    cause: 'Your organisation lost its number before it was sent.',
    fix: 'Ask your operator for a number, then send it again.',
  },
  no_platform: {
    cause: 'For three days, there was no system that receives your messages.',
    fix: 'Connect one. The person can write again.',
  },
  user_erased: { cause: 'The person has left the app.', fix: 'Do not send it again.' },
  unknown: {
    cause: 'The service could not build the message.',
    fix: 'Ask your operator, and name the id of the message.',
  },
};

/** For messages of people, the same reasons are about the system that receives them. */
const receivingReasons: Partial<Record<string, Explanation>> = {
  refused: {
    cause: 'Your system rejected it.',
    fix: 'Look at the log of your system, correct it, then send the events again.',
  },
  unreachable: {
    cause: 'Your system could not be reached for three days.',
    fix: 'Check that it runs, then send the events again.',
  },
};

/** Why a message failed, and what can be done. */
export const explainReason = (state: string, reason: string | undefined): Explanation => {
  const known: Partial<Record<string, Explanation>> = reasons;
  const given = reason ?? 'unknown';
  const receiving = state === 'reception_failed_http' ? receivingReasons[given] : undefined;
  return receiving ?? known[given] ?? reasons.unknown;
};

/** Kinds of content. */
export const kindOf = (payloadType: string): string =>
  ({
    text: 'Text',
    image: 'Picture',
    file: 'File',
    audio: 'Sound',
    video: 'Film',
    location: 'Location',
  })[payloadType] ?? 'Message';

/** What a campaign is called, and how far it is. */
export const campaign = {
  unnamed: (when: string) => `Messages of ${when}`,
  ofDay: (day: string) => `Single messages of ${day}`,
  job: (id: string) => `Campaign ${id.slice(0, 8)}`,
  status: {
    scheduled: 'Scheduled',
    waiting: 'Paused',
    running: 'Running',
    completed: 'Completed',
    cancelled: 'Stopped',
  },
};
