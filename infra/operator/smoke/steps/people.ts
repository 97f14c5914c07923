/** User data requests, and erasure. */
import { api } from '../../../../shared/api/index.ts';
import { now } from '../../../../shared/core/clock.ts';
import { type Day, type Step, untilFound } from '../day.ts';
import { bodyOf, check, expectStatus, StepFailure } from '../http.ts';
import { isGranted } from './basics.ts';
import { logOf, sendEvent } from './messages.ts';

/** Seconds of a long poll: less than API Gateway waits. */
const LONG_POLL = 25;

const requestIn = ({ found: { request } }: Day): string => {
  if (request === undefined) throw new StepFailure('there is no request');
  return request;
};

const fetchData = ({ hosts, tokens }: Day, request: string, seconds: number) =>
  hosts.base({
    path: `/v1/user_data/fetch/${request}?long_poll=${seconds}`,
    shown: '/v1/user_data/fetch/{id}',
    token: tokens.api,
  });

const dataOf = ({ hosts, run, tokens }: Day, verb: 'start' | 'fetch', body: object) =>
  hosts.base({
    method: 'POST',
    path: `/v1/user_data/${verb}/${run.user}`,
    shown: `/v1/user_data/${verb}/{phone_number}`,
    token: tokens.api,
    body,
  });

export const people = {
  request: {
    title: 'A long poll returns what the user grants',
    needs: ['user'],
    run: async (day) => {
      const data = [{ property: 'first_name', required: true }, { property: 'device_platform' }];
      const started = await dataOf(day, 'start', { reason: 'A smoke test', data });
      const { requestId, status } = bodyOf(started, api.startUserDataRequest.responses[200]);
      check(status === 'pending', 'the request is completed without an answer');
      day.found.request = requestId;

      const schema = api.fetchUserData.responses[200];
      const before = bodyOf(await fetchData(day, requestId, 0), schema);
      check(before.status === 'pending', 'the request is completed without an answer');
      const polling = fetchData(day, requestId, LONG_POLL);
      const answer = { id: requestId, answers: { first_name: 'approved' } };
      const [polled] = await Promise.all([
        polling,
        sendEvent(day, 'answered', { type: 'user_data.answered', data: answer }),
      ]);
      // The service may have no room for another waiting request: it returns at once then.
      const first = bodyOf(polled, schema);
      const hasWaited = first.status === 'completed';
      const { results } = hasWaited ? first : bodyOf(await fetchData(day, requestId, 0), schema);
      check(isGranted(results.first_name), 'the result is not what the user granted');
      check(results.device_platform?.status === 'approved', 'a property without approval is missing');
      return hasWaited ? undefined : 'the long poll returned before the answer';
    },
  },

  retrieve: {
    title: 'Only properties without approval are retrieved at once',
    needs: ['user'],
    run: async (day) => {
      const retrieve = (property: string) => dataOf(day, 'fetch', { data: [{ property }] });
      const { results } = bodyOf(await retrieve('device_platform'), api.retrieveUserData.responses[200]);
      check(results.device_platform?.status === 'approved', 'the property is missing');
      expectStatus(await retrieve('first_name'), 403, 'approval_required');
      return undefined;
    },
  },

  erase: {
    title: 'A removed user is erased',
    needs: ['request', 'send'],
    run: async (day) => {
      const { run } = day;
      const start = now();
      await sendEvent(day, 'removed', { type: 'user.removed', data: { phone_number: run.user } });
      let left: string[] = [];
      await untilFound(
        day,
        async () => {
          const fetched = await fetchData(day, requestIn(day), 0);
          const log = await logOf(day, { contact: run.user });
          left = [...(fetched.status === 404 ? [] : ['a data request']), ...(log.length === 0 ? [] : ['the log'])];
          return left.length === 0 || undefined;
        },
        () => `the user is still in ${left.join(' and ')}: the worker erase runs once a minute`,
      );
      expectStatus(await dataOf(day, 'fetch', { data: [{ property: 'device_platform' }] }), 404, 'user_not_found');
      const logged = await logOf(day, { job_id: run.job });
      check(logged.length > 0, 'the log lost the entries');
      check(
        logged.every(({ contact }) => contact.startsWith('erased-')),
        'the log contains the number',
      );
      return `after ${Math.round((now() - start) / 1_000)} s, by the worker`;
    },
  },
} satisfies Record<string, Step>;
