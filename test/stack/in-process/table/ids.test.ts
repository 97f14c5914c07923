/**
 * Ids in requests: every endpoint accepts upper case and lower case.
 *
 * @module-tag long
 */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { secondsFromNow, timestamp } from '../../../../shared/core/clock.ts';
import { newId, newPseudonym } from '../../../../shared/core/ids.ts';
import { logItem } from '../../../../shared/outbox/message.ts';
import { putIfAbsent } from '../../../../shared/table/client.ts';
import { answered, applied, state } from '../../support/app-events.ts';
import { call } from '../../support/client.ts';
import { newProfiler } from '../../support/profilers.ts';
import { newCaller, newPanelist, newPhone } from '../../support/world.ts';

const { account, token } = await newCaller('profilers', 'messages', 'stats', 'user_data');

describe('an id is accepted in upper case:', () => {
  test('that of a profiler, to read and delete it', async () => {
    const { id } = await newProfiler({ token });
    const path = { id: id.toUpperCase() };
    expect((await call('readProfiler', { token, path })).body.question).toBe('Well?');
    await call('deleteProfiler', { token, path });
  });

  test('the profiler and option of an answer', async () => {
    const { id, yes } = await newProfiler({ token });
    const answer = { profiler_id: id, option_id: yes, phone_number: await newPanelist() };
    const inUpperCase = { ...answer, profiler_id: id.toUpperCase(), option_id: yes.toUpperCase() };
    await call('answerProfiler', { token, body: inUpperCase });
    // The service recognises a repeat: a second answer with other ids would return 409.
    await call('answerProfiler', { token, body: answer });
  });

  test('the job of a message and of a log filter', async () => {
    const job_id = randomUUID();
    const query = { job_id: job_id.toUpperCase() };
    await call('sendMessage', { token, query, body: { to: newPhone(), type: 'text', text: { body: 'Hi' } } });
    // The filter excludes states that may follow at any time.
    const sent = { state: 'sent' } as const;
    const { body } = await call('listLogs', { token, query: { ...query, ...sent } });
    expect(body).toMatchObject([{ job_id }]);
    expect((await call('listLogs', { token, query: { job_id, ...sent } })).body).toEqual(body);
  });

  test('the message of a state that the app network reports', async () => {
    const to = newPhone();
    const { body } = await call('sendMessage', { token, body: { to, type: 'text', text: { body: 'Hi' } } });
    await applied(state(body.id.toUpperCase(), 'read'));
    const logs = await call('listLogs', { token, query: { contact: to, state: 'read' } });
    expect(logs.body).toHaveLength(1);
  });

  test('that of a user data request, to answer and fetch it', async () => {
    const body = { reason: 'To greet you', data: [{ property: 'first_name' as const }] };
    const path = { phone_number: await newPanelist() };
    const { requestId } = (await call('startUserDataRequest', { token, path, body })).body;
    await applied(answered(requestId.toUpperCase(), { first_name: 'denied' }));
    const fetched = await call('fetchUserData', { token, path: { id: requestId.toUpperCase() } });
    expect(fetched.body).toEqual({ status: 'completed', results: { first_name: { status: 'denied' } } });
  });
});

test("the log filter accepts every contact of the log, including an erased user's pseudonym", async () => {
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
