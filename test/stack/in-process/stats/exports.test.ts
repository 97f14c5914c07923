/**
 * Exports as CSV and NDJSON, on the served stack: readable by a spreadsheet, with the same sums as the lists.
 *
 * @module-tag long
 */
import { randomUUID } from 'node:crypto';
import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import { timestamp } from '../../../../shared/core/clock.ts';
import { logItem, states } from '../../../../shared/outbox/message.ts';
import { answerKey } from '../../../../shared/profilers/entities.ts';
import { putAll } from '../../../../shared/table/client.ts';
import { lifetime } from '../../../support/lifetime.ts';
import { applied, updated } from '../../support/app-events.ts';
import { call, fail, sendRaw, urlOf } from '../../support/client.ts';
import { newCaller, newPhone, newPhones } from '../../support/world.ts';

const newSender = () => newCaller('messages', 'stats', 'profilers');

/** All pages of an export, and how many there were. */
const download = async (
  name: 'exportJobLog' | 'exportProfiler',
  token: string,
  path: Record<string, string>,
): Promise<{ text: string; pages: number; headers: Headers }> => {
  let text = '';
  let pages = 0;
  for (let url = urlOf(name, path); ; ) {
    const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
    expect(response.status).toBe(200);
    const page = Buffer.from(await response.bytes());
    expect(page.length).toBeLessThanOrEqual(5_000_000);
    text += page.toString();
    pages += 1;
    const [, next] = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '') ?? [];
    if (next === undefined) return { text, pages, headers: response.headers };
    url = new URL(next, url).href;
  }
};

const rowsOf = (text: string): Record<string, string>[] => parse(text, { columns: true });

describe('the log of a job', () => {
  test('has the entries of the logs, as CSV and as NDJSON, and their sum is that of the job', async () => {
    const { token } = await newSender();
    const [job_id, other] = [randomUUID(), randomUUID()];
    const references = [
      'plain',
      'with "quotes", commas\nand lines',
      '=HYPERLINK("https://example.com")',
      '+27',
      "-1'é",
      // Where spreadsheets divide cells at semicolons.
      'plain;=1+1\t@SUM(1)\n-2',
    ];
    for (const reference of references) {
      const body = { to: newPhone(), type: 'text' as const, text: { body: 'Hi' }, reference };
      await call('sendMessage', { token, query: { job_id }, body });
      await call('sendMessage', { token, query: { job_id: other }, body });
    }
    const list = async () => (await call('listLogs', { token, query: { job_id, limit: '1000' } })).body ?? [];
    await expect.poll(async () => (await list()).length).toBe(2 * references.length);
    const listed = (await list())
      .map((entry) => ({ ...entry, created: `${entry.created}Z` }))
      .sort((a, b) => (a.id + a.state < b.id + b.state ? -1 : 1));

    /** All pages, once entries of the last second are there. */
    const load = async (file: 'log.csv' | 'log.ndjson', linesIn: (text: string) => unknown[]) => {
      let found: Awaited<ReturnType<typeof download>> | undefined;
      await expect
        .poll(async () => {
          found = await download('exportJobLog', token, { job_id, file });
          return linesIn(found.text).length;
        })
        .toBe(listed.length);
      return found ?? { text: '', headers: new Headers() };
    };
    const csv = await load('log.csv', rowsOf);
    expect(Object.fromEntries(csv.headers)).toMatchObject({
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="job-${job_id}-log.csv"`,
      'cache-control': 'no-store',
    });
    expect(csv.text).toMatch(/^id,created,contact,state,job_id,payload_type,reference,reason\r\n/);
    const disarmed = (reference = '') => reference.replaceAll(/(^|[;\t\n])([=+\-@])/g, "$1'$2");
    const rows = rowsOf(csv.text).sort((a, b) => (`${a.id}${a.state}` < `${b.id}${b.state}` ? -1 : 1));
    expect(rows).toEqual(listed.map((entry) => ({ ...entry, reference: disarmed(entry.reference), reason: '' })));
    expect(csv.text).not.toMatch(/(?:^|[,;\t])"?[=+\-@]/m);

    const linesIn = (text: string) => text.trimEnd().split('\n');
    const { text } = await load('log.ndjson', linesIn);
    const entries = linesIn(text).map((line) => JSON.parse(line));
    expect(entries.sort((a, b) => (a.id + a.state < b.id + b.state ? -1 : 1))).toEqual(listed);

    const sums = async () => (await call('readJob', { token, path: { job_id } })).body.states;
    const counted = Object.fromEntries(
      Map.groupBy(rows, ({ state = '' }) => state)
        .entries()
        .map(([s, all]) => [s, all.length]),
    );
    await expect.poll(sums).toEqual(counted);
  });

  test('of more entries than fit into a response continues behind a Link, with the names of the columns once', async () => {
    const { token, account } = await newSender();
    const job_id = randomUUID();
    const count = 1_100;
    const items = Array.from({ length: count }, (_, index) => {
      // In CSV, it has twice the length.
      const reference = '"'.repeat(3_000);
      const message = { id: randomUUID(), account, phone: newPhone(), job_id, payload_type: 'text', ...lifetime };
      const created = new Date(Date.now() - 60_000 - index).toISOString().replace('Z', '000');
      // Nothing counts them.
      return { ...logItem({ ...message, reference }, index < 1_000 ? 'sent' : 'read', created), counted: true };
    });
    await putAll(items);
    let [rows, pages]: [Record<string, string>[], number] = [[], 0];
    await expect
      .poll(async () => {
        const found = await download('exportJobLog', token, { job_id, file: 'log.csv' });
        [rows, pages] = [rowsOf(found.text), found.pages];
        return rows.length;
      })
      .toBe(count);
    expect(pages).toBe(2);
    expect(new Set(rows.map(({ id }) => id)).size).toBe(count);
    const order = rows.map(({ state = '', created = '' }) => `${states.map(String).indexOf(state)} ${created}`);
    expect(order).toEqual(order.toSorted());
  });

  test('of an unknown job, or of another account, returns 404; another file 422; a foreign cursor 422', async () => {
    const [one, other] = [await newSender(), await newSender()];
    const job_id = randomUUID();
    const body = { to: newPhone(), type: 'text' as const, text: { body: 'Hi' } };
    await call('sendMessage', { token: one.token, query: { job_id }, body });
    for (const [token, job] of [
      [one.token, randomUUID()],
      [other.token, job_id],
    ] as const) {
      const found = await fail('exportJobLog', { token, path: { job_id: job, file: 'log.csv' } });
      expect([found.status, found.body.code]).toEqual([404, 'job_not_found']);
    }
    const path = { job_id, file: 'log.pdf' };
    expect((await sendRaw('exportJobLog', { token: one.token, path })).status).toBe(422);
    const cursor = await fail('exportJobLog', {
      token: one.token,
      path: { job_id, file: 'log.csv' },
      query: { cursor: 'x' },
    });
    expect(cursor.body.errors).toMatchObject([{ parameter: 'cursor' }]);
  });
});

describe('a profiler', () => {
  test('exports its answers and its results, with the same sums as the API', async () => {
    const { token } = await newSender();
    const draft = { question: 'What?', options: ['tea', '=1+1', 'coffee, black'] };
    const { profiler_id: id, options } = (await call('createProfiler', { token, body: draft })).body;
    const phones = [newPhone(), newPhone(), newPhone()];
    for (const [index, phone_number] of phones.entries()) {
      await applied(updated(phone_number, { panelist: true }));
      const option_id = Object.values(options)[index] ?? '';
      await expect
        .poll(
          async () =>
            (
              await sendRaw('answerProfiler', {
                token,
                headers: { 'content-type': 'application/json' },
                body: JSON.stringify({ profiler_id: id, option_id, phone_number }),
              })
            ).status,
        )
        .toBe(204);
    }
    const answers = (await call('listAnswers', { token, path: { id } })).body ?? [];
    const { text, headers } = await download('exportProfiler', token, { id, file: 'answers.csv' });
    expect(headers.get('content-disposition')).toBe(`attachment; filename="profiler-${id}-answers.csv"`);
    expect(rowsOf(text)).toEqual(
      answers.map(({ option, created, ...answer }) => ({
        ...answer,
        option: option.replace(/^=/, "'="),
        created: `${created}Z`,
      })),
    );
    await expect
      .poll(async () => rowsOf((await download('exportProfiler', token, { id, file: 'results.csv' })).text))
      .toEqual(
        Object.entries(options).map(([option, option_id]) => ({
          option_id,
          option: option.replace(/^=/, "'="),
          count: '1',
        })),
      );
  });

  test('exports long answers in pages that fit into a response, also if quotes double their length', async () => {
    const { token, account } = await newSender();
    const draft = { question: 'What?', options: ['"'.repeat(30_000), 'tea'] };
    const { profiler_id: id, options } = (await call('createProfiler', { token, body: draft })).body;
    const [option_id = ''] = Object.values(options);
    const phones = newPhones(150).toSorted();
    await putAll(phones.map((phone) => ({ ...answerKey(id, phone), account, option_id, created: timestamp() })));
    const { text, pages } = await download('exportProfiler', token, { id, file: 'answers.csv' });
    expect(rowsOf(text).map(({ phone_number }) => phone_number)).toEqual(phones);
    expect(pages).toBe(3);
  });

  test('of another account returns the same 404 as one that does not exist', async () => {
    const [one, other] = [await newSender(), await newSender()];
    const draft = { question: 'What?', options: ['tea', 'coffee'] };
    const { profiler_id: id } = (await call('createProfiler', { token: one.token, body: draft })).body;
    for (const file of ['answers.csv', 'results.csv'] as const) {
      const found = [
        await fail('exportProfiler', { token: other.token, path: { id, file } }),
        await fail('exportProfiler', { token: other.token, path: { id: randomUUID(), file } }),
      ].map(({ status, body: { code, detail } }) => ({ status, code, detail }));
      expect(found[0]).toEqual(found[1]);
      expect(found[0]?.status).toBe(404);
    }
  });
});

test("times in parameters and bodies may be those of the API's own responses", async () => {
  const { token, account } = await newCaller('messages', 'stats', 'bridge');
  expect(account).toBeDefined();
  const body = { to: newPhone(), type: 'text' as const, text: { body: 'Hi' } };
  await call('sendMessage', { token, body });
  let created = '';
  const find = async () => {
    created = (await call('listLogs', { token, query: { state: 'sent' } })).body?.[0]?.created ?? '';
    return created;
  };
  await expect.poll(find).not.toBe('');
  const count = async (query: object) => (await call('listLogs', { token, query })).body?.length ?? 0;
  await expect.poll(() => count({ state: 'sent', start: created })).toBe(1);
  await expect.poll(() => count({ state: 'sent', start: `${created}Z` })).toBe(1);
  expect(await count({ state: 'sent', end: created })).toBe(0);
  expect((await call('listJobs', { token, query: { start: created, end: created } })).status).toBeLessThan(300);
  expect((await call('listDeliveries', { token, query: { start: created, end: created } })).status).toBe(204);
  const send_at = new Date(Date.now() + 3_600_000).toISOString().replace('Z', '000');
  expect((await call('sendMessage', { token, body: { ...body, send_at } })).body.id).toBeDefined();
  const refused = await fail('listLogs', { token, query: { start: 'yesterday' } });
  expect(refused.body.errors).toMatchObject([{ parameter: 'start' }]);
});
