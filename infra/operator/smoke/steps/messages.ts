/** Messages to the user: from acceptance through the stream, the queue and the worker to states, logs and counters. */
import * as v from 'valibot';
import { accepted } from '../../../../shared/api/areas/messages.ts';
import { api } from '../../../../shared/api/index.ts';
import { now, timestampOf } from '../../../../shared/core/clock.ts';
import { messageHistory } from '../../queries/message-history.ts';
import { type Day, type Step, untilFound } from '../day.ts';
import { bodyOf, check, expectStatus, StepFailure } from '../http.ts';
import { type EventName, eventIdOf, type IdempotencyKey } from '../run.ts';

/** Sends an event of the app network, and expects that it is applied. */
export const sendEvent = async (
  { hosts, run, tokens }: Day,
  name: EventName,
  event: { type: string; data: object },
): Promise<void> => {
  const body = { id: eventIdOf(run, name), ...event };
  expectStatus(await hosts.bridge({ method: 'POST', path: '/v1/app/events', token: tokens.app, body }), 204);
};

const logEntries = v.array(v.object({ contact: v.string(), state: v.string() }));

/** The log entries that match a filter. */
export const logOf = async (
  { hosts, tokens }: Day,
  filter: Record<string, string>,
): Promise<v.InferOutput<typeof logEntries>> => {
  const query = new URLSearchParams({ limit: '1000', ...filter });
  const received = await hosts.base({ path: `/v1/stats/logs?${query}`, token: tokens.api });
  return received.status === 204 ? [] : bodyOf(received, logEntries);
};

/** What the app network returns if it does not accept the signature. */
const UNAUTHORIZED = ['status_401', 'status_403'];

/**
 * Waits until the app network has responded to a message. It may reject a message to a number that nobody has: that
 * proves the way as well.
 *
 * @returns whether the app network accepted the message, and the result in words
 */
export const untilPosted = async (day: Day, id: string): Promise<{ accepted: boolean; words: string }> => {
  const ended = await untilFound(
    day,
    async () =>
      (await messageHistory(id))?.states.find(({ state }) => ['delivered_to_server', 'sending_failed'].includes(state)),
    () => whyPending(id),
  );
  if (ended.state === 'delivered_to_server') return { accepted: true, words: 'accepted by the app network' };
  const { reason = 'unknown' } = ended;
  if (UNAUTHORIZED.includes(reason)) {
    throw new StepFailure(`the app network rejects the signature (${reason}): check the secret AppNetworkSecret`);
  }
  if (day.knownUser || !reason.startsWith('status_4')) {
    throw new StepFailure(`the app network rejected the message (${reason})`);
  }
  return { accepted: false, words: `rejected by the app network (${reason}): nobody has the number` };
};

const whyPending = async (id: string): Promise<string> => {
  const { waiting } = (await messageHistory(id)) ?? {};
  if (waiting?.cause === 'not_set_up') {
    return 'the URL and the secret of the app network are not set (AppNetworkSecret)';
  }
  return `the message is pending (${waiting?.cause ?? 'no attempt was made'})`;
};

/** The counters of the job: messages by state. */
const countersOf = async ({ hosts, run, tokens }: Day): Promise<Map<string, number>> => {
  // A message is counted on the day of its state (UTC), which may end meanwhile.
  const day = (distance: number) => timestampOf(now() + distance * 86_400_000).slice(0, 10);
  const query = `start_date=${day(-1)}&end_date=${day(1)}`;
  const received = await hosts.base({ path: `/v1/stats/jobs?${query}`, token: tokens.api });
  const rows = received.status === 204 ? [] : bodyOf(received, api.listJobs.responses[200]);
  const counts = new Map<string, number>();
  for (const { job_id, state, count } of rows) {
    if (job_id === run.job) counts.set(state, (counts.get(state) ?? 0) + count);
  }
  return counts;
};

const inWords = (counts: Map<string, number>): string =>
  [...counts]
    .map(([state, count]) => `${state} ${count}`)
    .sort()
    .join(', ') || 'nothing';

export const messages = {
  send: {
    title: 'A message is accepted once, with its image',
    needs: ['user', 'media'],
    run: async (day) => {
      const { hosts, run, tokens, found } = day;
      const send = (content: object, key: IdempotencyKey) =>
        hosts.base({
          method: 'POST',
          path: `/v1/message?job_id=${run.job}`,
          token: tokens.api,
          headers: { 'idempotency-key': key },
          body: { to: run.user, recipient_type: 'individual', ...content },
        });
      const text = { type: 'text', text: { body: 'A smoke test of the Business API' }, quick_replies: ['Yes', 'No'] };
      const schema = accepted;
      const { id } = bodyOf(await send(text, 'text'), schema);
      const again = bodyOf(await send(text, 'text'), schema);
      check(again.id === id, 'a request with the same idempotency key returned another message');
      bodyOf(await send({ type: 'image', image: { url: found.mediaUrl } }, 'image'), schema);
      found.message = id;
      return undefined;
    },
  },

  deliver: {
    title: 'The message reaches the app network',
    needs: ['send'],
    ofAppNetwork: true,
    run: async (day) => {
      const { accepted, words } = await untilPosted(day, messageIn(day));
      day.found.isAccepted = accepted;
      return words;
    },
  },

  states: {
    title: 'Reported states appear in the log',
    needs: ['send'],
    run: async (day) => {
      const id = messageIn(day);
      await sendEvent(day, 'text-delivered', { type: 'message.state', data: { id, state: 'delivered_to_user' } });
      await sendEvent(day, 'text-read', { type: 'message.state', data: { id, state: 'read' } });
      let missing: string[] = [];
      await untilFound(
        day,
        async () => {
          const logged = (await logOf(day, { job_id: day.run.job })).map(({ state }) => state);
          missing = ['sent', 'delivered_to_user', 'read'].filter((state) => !logged.includes(state));
          return missing.length === 0 || undefined;
        },
        () => `the log lacks ${missing.join(', ')}`,
      );
      return undefined;
    },
  },

  counters: {
    title: 'The counters of the job agree with the log',
    needs: ['states'],
    run: async (day) => {
      let [counted, logged] = ['', ''];
      await untilFound(
        day,
        async () => {
          const entries = Map.groupBy(await logOf(day, { job_id: day.run.job }), ({ state }) => state);
          logged = inWords(new Map([...entries].map(([state, { length }]) => [state, length])));
          counted = inWords(await countersOf(day));
          return counted === logged || undefined;
        },
        () => `the counters are ${counted}, but the log has ${logged}`,
      );
      return counted;
    },
  },
} satisfies Record<string, Step>;

const messageIn = ({ found: { message } }: Day): string => {
  if (message === undefined) throw new StepFailure('there is no message');
  return message;
};
