import { expect, test } from 'vitest';
import { reportOf } from '../../../infra/portal/campaigns/report.ts';

const entry = (id: string, state: string, created: string, more = {}): string =>
  JSON.stringify({
    id,
    contact: `2782123456${id}@example.com`,
    state,
    created,
    job_id: 'j',
    payload_type: 'text',
    ...more,
  });

const HEADER =
  'Phone number,Result,Cause,Sent (Africa/Johannesburg),Reached the server (Africa/Johannesburg),Delivered (Africa/Johannesburg),Read (Africa/Johannesburg),Id of the message';

const linesOf = (log: string[]) => reportOf(`${log.join('\n')}\n`, 'Africa/Johannesburg').split('\r\n');

test('each message has a row with its result, its cause and its times in the zone of the reader', () => {
  const lines = linesOf([
    entry('1', 'sent', '2026-01-02T22:04:05.000006Z'),
    entry('2', 'sent', '2026-01-02T22:04:06.000006Z'),
    entry('1', 'delivered_to_server', '2026-01-02T22:04:07.000006Z'),
    entry('1', 'read', '2026-01-02T22:05:00.000006Z'),
    entry('1', 'delivered_to_user', '2026-01-02T22:05:01.000006Z'),
    entry('2', 'sending_failed', '2026-01-02T22:06:00.000006Z', { reason: 'opted_out' }),
  ]);
  expect(lines).toEqual([
    `\ufeff${HEADER}`,
    '27821234561,Read,,2026-01-03 00:04:05,2026-01-03 00:04:07,2026-01-03 00:05:01,2026-01-03 00:05:00,1',
    '27821234562,Not sent,The person has stopped your messages.,2026-01-03 00:04:06,,,,2',
    '',
  ]);
});

test('a state that is new to the portal, and an empty log, are no errors', () => {
  expect(linesOf([entry('1', 'sent', '2026-01-02T22:04:05Z'), entry('1', 'pinned', '2026-01-02T22:04:06Z')])[1]).toBe(
    '27821234561,Sent,,2026-01-03 00:04:05,,,,1',
  );
  expect(linesOf([])).toEqual([`\ufeff${HEADER}`, '']);
});

test('the pseudonym of a person who has left is no number, and nothing is a formula', () => {
  const [, row = ''] = linesOf([entry('1', 'sent', '2026-01-02T22:04:05Z', { contact: 'erased-0190f3a0' })]);
  expect(row.split(',')[0]).toBe('erased-0190f3a0');
  expect(row).not.toMatch(/(^|,)[=+\-@]/);
});
