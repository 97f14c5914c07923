import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { delimiter, dirname } from 'node:path';
import { expect, inject, test } from 'vitest';
import { remedies } from '../../../../infra/openapi/words.ts';
import { type ProblemCode, problemCatalogue } from '../../../../shared/core/problems.ts';
import { newPanelist } from '../../support/world.ts';

test('the first requests of the README work if pasted into a shell', { tags: 'long' }, async () => {
  const readme = await readFile('README.md', 'utf8');
  const [, script = ''] = /<!-- test: these requests are run -->\n```sh\n([^`]+)```/.exec(readme) ?? [];
  const { base_url, phone_url, rapidpro_url, token, bot_phone_number } = inject('stack');
  const { status, stdout } = spawnSync('bash', ['-euc', script], {
    encoding: 'utf8',
    timeout: 50_000,
    env: {
      BASE_URL: base_url,
      PHONE_URL: phone_url,
      RAPIDPRO_URL: rapidpro_url,
      BOT: bot_phone_number,
      TOKEN: token,
      PANELIST: await newPanelist(),
      PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
    },
  });
  expect(status).toBe(0);
  const [created = '', list = '', read = '', answered, deleted, gone = '', notFound, ...rest] = stdout
    .trim()
    .split('\n');
  const { profiler_id, options } = JSON.parse(created);
  expect(Object.keys(options)).toEqual(['tea', 'coffee', 'neither']);
  expect(JSON.parse(list)).toContainEqual({ id: profiler_id, ...JSON.parse(read) });
  expect([answered, deleted, JSON.parse(gone).code, notFound]).toEqual(['204', '204', 'profiler_not_found', '404']);

  const outputs = rest.map((line) => (line.startsWith('{') || line.startsWith('[') ? JSON.parse(line) : line));
  const [sent, shown, state, written, conversation, received, ...more] = outputs;
  expect(shown.at(-1).data).toMatchObject({
    id: sent.id,
    text: { body: 'Good morning!' },
    quick_replies: ['Hi', 'Stop'],
  });
  expect([state.status, written.status]).toEqual([204, 204]);
  expect(conversation.at(-1).data).toMatchObject({
    text: { body: 'You wrote: Hi' },
    quick_replies: ['Again', 'Stop'],
  });
  expect(received.at(-1)).toMatchObject({ from: '447700900002', text: 'Hi' });
  const [uploaded, opened, image, user, consent, started, fetched, retrieved, logs, jobs] = more;
  expect(uploaded).toEqual({ url: expect.stringContaining('/media/'), expires_at: expect.any(String) });
  expect([opened, Object.keys(image)]).toEqual(['200 image/png', ['id']]);
  expect([user.status, consent.length, started.status]).toEqual([204, 1, 'pending']);
  expect(fetched).toMatchObject({
    status: 'completed',
    results: { first_name: { status: 'approved', value: 'Thandi' }, last_name: { status: 'denied' } },
  });
  expect(retrieved.results.device_platform).toMatchObject({ status: 'approved', value: 'android', source: 'device' });
  expect(logs.map((entry: { state: string }) => entry.state)).toEqual(
    expect.arrayContaining(['delivered_to_server', 'read', 'received', 'sent']),
  );
  expect(jobs.map((row: { state: string }) => row.state)).toEqual(expect.arrayContaining(['sent', 'read', 'received']));
});

test('the guide for businesses has the status and remedy of every problem, as in the API description', async () => {
  const guide = await readFile('infra/docs/business.md', 'utf8');
  const rows = [...guide.matchAll(/^\| (\d{3}) +\| `([a-z_]+)` +\| (.*?) +\|$/gm)].map(([, ...row]) => row);
  const described = Object.entries(problemCatalogue).map(([code, { status }]) => [
    String(status),
    code,
    remedies[code as ProblemCode],
  ]);
  expect(rows.sort()).toEqual(described.sort());
});
