import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { expect, inject, test } from 'vitest';
import { call, fail, sendRaw } from './support/client.ts';
import { newPanelist, newPhone, newVendor } from './support/world.ts';

const lines = async (): Promise<{ source: string; line: Record<string, unknown> }[]> => {
  const written = await readFile(inject('stack').log, 'utf8');
  return written
    .split('\n')
    .slice(0, -1)
    .map((text) => {
      const [source = ''] = text.split(' ', 1);
      return { source, line: JSON.parse(text.slice(source.length + 1)) };
    });
};

/** The lines of a request, once its functions and the gateway have written them. */
const linesOf = async (requestId: string | null) => {
  const found = async () => (await lines()).filter(({ line }) => line.request_id === requestId);
  await expect.poll(async () => (await found()).some(({ line }) => 'function_ms' in line)).toBe(true);
  return found();
};

test('a request is one line of its function: request id, route, account, status, milliseconds', async () => {
  const { account, token } = await newVendor();
  const { headers } = await call('listProfilers', { token });
  const written = (await linesOf(headers.get('apigw-requestid'))).filter(({ source }) =>
    source.startsWith('ListProfilers'),
  );
  expect(written.map(({ line }) => line)).toEqual([
    {
      level: 'info',
      message: 'request',
      request_id: headers.get('apigw-requestid'),
      route: 'GET /v1/research_profilers',
      account,
      status: 200,
      ms: expect.any(Number),
    },
  ]);
});

test('a refused request is in the log too, with the status of its problem', async () => {
  const { account, token } = await newVendor();
  const { headers } = await fail('readProfiler', { token, path: { id: 'x' } });
  const written = await linesOf(headers.get('apigw-requestid'));
  expect(written.map(({ line }) => line)).toContainEqual(
    expect.objectContaining({ message: 'request', account, status: 404 }),
  );
});

test('no line holds a token, a phone number, a text or an id that came in a path', async () => {
  const { token, account } = await newVendor();
  const phone = await newPanelist();
  const stranger = newPhone();
  const words = {
    question: `question-${randomUUID()}`,
    option: `option-${randomUUID()}`,
    path: `path-${randomUUID()}`,
  };
  const json = { 'content-type': 'application/json' };

  const { body } = await call('createProfiler', {
    token,
    body: { question: words.question, options: [words.option, 'no'] },
  });
  const answer = { profiler_id: body.profiler_id, option_id: body.options.no ?? '', phone_number: phone };
  await call('answerProfiler', { token, body: answer });
  await fail('answerProfiler', { token, body: { ...answer, option_id: body.options[words.option] ?? '' } });
  await fail('answerProfiler', { token, body: { ...answer, phone_number: stranger } });
  await fail('readProfiler', { token, path: { id: words.path } });
  await sendRaw('readProfiler', { token: `${token}-mistyped`, path: { id: words.path } });
  await sendRaw('createProfiler', { token, headers: json, body: `{"question":"${words.question}"` });
  const last = await sendRaw('createProfiler', { token, headers: json, body: `{"options":["${words.option}"]}` });
  await linesOf(last.headers.get('apigw-requestid'));

  const written = await readFile(inject('stack').log, 'utf8');
  expect(written).toContain(account);
  for (const secret of [token, token.slice(5, 40), phone, stranger, ...Object.values(words)]) {
    expect(written).not.toContain(secret);
  }
});
