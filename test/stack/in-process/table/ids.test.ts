/**
 * Ids in requests: every endpoint accepts upper case and lower case.
 *
 * @module-tag long
 */
import { randomUUID } from 'node:crypto';
import { expect, inject, test } from 'vitest';
import { secondsFromNow, timestamp } from '../../../../shared/core/clock.ts';
import { newId, newPseudonym } from '../../../../shared/core/ids.ts';
import { logItem } from '../../../../shared/outbox/message.ts';
import { putIfAbsent } from '../../../../shared/table/client.ts';
import { call } from '../../support/client.ts';
import { newCaller, newPanelist, newPhone } from '../../support/world.ts';

const { app_token } = inject('stack');

const caller = newCaller('profilers', 'messages', 'stats', 'user_data');

const newProfiler = async () => {
  const { token } = await caller;
  const { body } = await call('createProfiler', { token, body: { question: 'Well?', options: ['a', 'b'] } });
  return { id: body.profiler_id, option: body.options.a ?? '' };
};

const report = (type: 'message.state' | 'user_data.answered', data: object) =>
  call('receiveAppEvents', { token: app_token, body: { id: randomUUID(), type, data } });

test.each<[string, () => Promise<void>]>([
  [
    'reading a profiler',
    async () => {
      const { token } = await caller;
      const { id } = await newProfiler();
      expect((await call('readProfiler', { token, path: { id: id.toUpperCase() } })).body.question).toBe('Well?');
    },
  ],
  [
    'deleting a profiler',
    async () => {
      const { token } = await caller;
      const { id } = await newProfiler();
      await call('deleteProfiler', { token, path: { id: id.toUpperCase() } });
    },
  ],
  [
    'the profiler and option of an answer',
    async () => {
      const { token } = await caller;
      const { id, option } = await newProfiler();
      const phone_number = await newPanelist();
      const answer = { profiler_id: id, option_id: option, phone_number };
      const inUpperCase = { ...answer, profiler_id: id.toUpperCase(), option_id: option.toUpperCase() };
      await call('answerProfiler', { token, body: inUpperCase });
      // The service recognises a repeat: a second answer with other ids would return 409.
      await call('answerProfiler', { token, body: answer });
    },
  ],
  [
    'the job of a message and of a log filter',
    async () => {
      const { token } = await caller;
      const job_id = randomUUID();
      const query = { job_id: job_id.toUpperCase() };
      await call('sendMessage', { token, query, body: { to: newPhone(), type: 'text', text: { body: 'Hi' } } });
      // The filter excludes states that may follow at any time.
      const state = 'sent';
      const { body } = await call('listLogs', { token, query: { ...query, state } });
      expect(body).toMatchObject([{ job_id }]);
      expect((await call('listLogs', { token, query: { job_id, state } })).body).toEqual(body);
    },
  ],
  [
    'the message of a state that the app network reports',
    async () => {
      const { token } = await caller;
      const to = newPhone();
      const { body } = await call('sendMessage', { token, body: { to, type: 'text', text: { body: 'Hi' } } });
      await report('message.state', { id: body.id.toUpperCase(), state: 'read' });
      const logs = await call('listLogs', { token, query: { contact: to, state: 'read' } });
      expect(logs.body).toHaveLength(1);
    },
  ],
  [
    'answering and fetching a user data request',
    async () => {
      const { token } = await caller;
      const body = { reason: 'To greet you', data: [{ property: 'first_name' as const }] };
      const path = { phone_number: await newPanelist() };
      const { requestId } = (await call('startUserDataRequest', { token, path, body })).body;
      await report('user_data.answered', { id: requestId.toUpperCase(), answers: { first_name: 'denied' } });
      const fetched = await call('fetchUserData', { token, path: { id: requestId.toUpperCase() } });
      expect(fetched.body).toEqual({ status: 'completed', results: { first_name: { status: 'denied' } } });
    },
  ],
])('an id is accepted in upper case: %s', async (_, attempt) => {
  await attempt();
});

test("the log filter accepts every contact of the log, including an erased user's pseudonym", async () => {
  const { account, token } = await caller;
  const phone = newPseudonym();
  const accepted = timestamp();
  const expires_at = secondsFromNow(60);
  const message = { id: newId(), account, phone, job_id: randomUUID(), payload_type: 'text', accepted, expires_at };
  await putIfAbsent(logItem(message, 'sent', accepted));
  const [shown] = (await call('listLogs', { token, query: { job_id: message.job_id } })).body ?? [];
  expect(shown?.contact).toBe(`${phone}@users.example.com`);
  for (const contact of [shown?.contact, phone, phone.toUpperCase()]) {
    expect((await call('listLogs', { token, query: { contact } })).body).toEqual([shown]);
  }
});
