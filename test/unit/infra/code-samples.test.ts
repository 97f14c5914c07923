/** Code samples: each operation has some, without a token, and texts of examples stay what they are. */
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { examples } from '../../../infra/openapi/docs.ts';
import { languages, sampleOf, withCodeSamples } from '../../../infra/openapi/samples/code-samples.ts';
import { api } from '../../../shared/api/index.ts';
import { exampleHosts } from '../../../shared/api/openapi/example-hosts.ts';
import description from '../../../shared/api/openapi/openapi.json' with { type: 'json' };
import { placeholders } from '../../../shared/api/placeholders.ts';

const shown = JSON.parse(JSON.stringify(withCodeSamples(description, exampleHosts)));

test('every operation that has an example has a sample in each language, and so has every webhook', () => {
  const described: [string, Record<string, unknown>][] = [
    ...Object.entries<Record<string, Record<string, unknown>>>(shown.paths),
    ...Object.entries<Record<string, Record<string, unknown>>>(shown.webhooks),
  ].flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => method !== 'servers')
      .map(([method, operation]): [string, Record<string, unknown>] => [`${method} ${path}`, operation]),
  );
  const without = described.filter(([, operation]) => [operation['x-codeSamples']].flat().length !== languages.length);
  expect(without.map(([index]) => index)).toEqual([
    'get /v1/openapi.json',
    'get /docs',
    'head /media/{media_id}',
    'get /portal',
  ]);
});

test('every example of an operation that has several has samples of its own, with the given hosts', () => {
  const hosts = { base: 'http://127.0.0.1:1', bridge: 'http://127.0.0.1:2' };
  const { post } = JSON.parse(JSON.stringify(withCodeSamples(description, hosts))).paths['/v1/message'];
  const { examples: described } = post.requestBody.content['application/json'];
  const titles = Object.values<{ summary: string }>(described).map(({ summary }) => summary);
  expect(Object.keys(post['x-samplesOfExamples'])).toEqual(titles);
  for (const { source } of post['x-samplesOfExamples']['An image'])
    expect(source).toContain('http://127.0.0.1:2/media/');
});

test('the description itself gets no samples', () => {
  expect(JSON.stringify(description).includes('x-codeSamples')).toBe(false);
});

test('no sample contains a token, and each reads it from the environment', () => {
  const variables = {
    curl: '$TOKEN',
    Python: 'os.environ["TOKEN"]',
    JavaScript: 'process.env.TOKEN',
    Go: 'os.Getenv("TOKEN")',
  };
  for (const one of examples) {
    for (const language of languages) {
      const { source } = sampleOf(one, language);
      expect(source.includes(placeholders.encodedToken), one.endpoint).toBe(false);
      expect(source.includes(variables[language]), `${one.endpoint} in ${language}`).toBe(
        api[one.endpoint].token !== 'none',
      );
    }
  }
});

test('samples that create something have no fixed key and no fixed job, so they work again after a change', () => {
  const creating = examples.filter(({ endpoint }) => api[endpoint].routes[0].method === 'POST');
  for (const one of creating) {
    const { 'idempotency-key': key }: { 'idempotency-key'?: string } = one.headers ?? {};
    const fixed = [...(key === undefined ? [] : [key]), `job_id=${placeholders.job}`];
    for (const language of languages) {
      const { source } = sampleOf(one, language);
      expect(
        fixed.filter((value) => source.includes(value)),
        `${one.endpoint} in ${language}`,
      ).toEqual([]);
    }
  }
});

const invitation = {
  endpoint: 'sendMessage',
  shows: 'A job',
  query: { job_id: placeholders.job },
  headers: { 'idempotency-key': 'invitation-7' },
  body: { to: '27821234567', type: 'text', text: { body: 'Hello' } },
} as const;

test.each([
  ['an empty variable', 'JOB_ID=; '],
  ['no variable', 'unset JOB_ID; '],
])('with %s, a shell makes a job and a key of its own in each run', { tags: 'long' }, (_, before) => {
  const script = `curl() { for one in "$@"; do echo "$one"; done; }\n${before}`;
  const run = () => {
    const output = execFileSync('sh', ['-c', script + sampleOf(invitation, 'curl').source], { encoding: 'utf8' });
    return [/Idempotency-Key: (.*)/.exec(output)?.[1], /job_id=(.*?)$/m.exec(output)?.[1]];
  };
  const ids = [...run(), ...run()];
  expect(new Set(ids).size).toBe(4);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i);
});

test('the job of the environment is used', { tags: 'long' }, () => {
  const script = `curl() { for one in "$@"; do echo "$one"; done; }; JOB_ID=mine\n${sampleOf(invitation, 'curl').source}`;
  expect(execFileSync('sh', ['-c', script], { encoding: 'utf8' })).toMatch(/job_id=mine$/m);
});

const ODD = 'It\'s "odd": $TOKEN `id` \\n \\ Zoë 👋 {encoded}';

test('a shell passes the texts of an example on unchanged', { tags: 'long' }, () => {
  const odd = {
    endpoint: 'sendMessage',
    shows: 'Odd',
    body: { to: '27821234567', type: 'text', text: { body: ODD } },
  } as const;
  const script = `curl() { for one in "$@"; do last=$given; given=$one; [ "$last" = --data ] && printf %s "$one"; done; }`;
  const output = execFileSync('sh', ['-c', `${script}\n${sampleOf(odd, 'curl').source}\ntrue`], { encoding: 'utf8' });
  expect(JSON.parse(output).text.body).toBe(ODD);
});

test('forms keep the texts of an example in each language', () => {
  const odd = {
    endpoint: 'receiveRapidproMessage',
    shows: 'Odd',
    body: { id: '1', text: ODD, to: '27821234567' },
  } as const;
  const { source } = sampleOf(odd, 'JavaScript');
  const [, fields = ''] = /new URLSearchParams\((.*)\),\n/.exec(source) ?? [];
  expect(Object.fromEntries(new Function(`return ${fields}`)()).text).toBe(ODD);
  expect(sampleOf(odd, 'Python').source.includes(JSON.stringify(ODD))).toBe(true);
  expect(sampleOf(odd, 'Go').source.includes(JSON.stringify(ODD))).toBe(true);
});

test('Python gets its own words for true, false and null', () => {
  const given = {
    endpoint: 'startUserDataRequest',
    shows: 'Words',
    path: { phone_number: '27821234567' },
    body: {
      reason: 'true',
      data: [
        { property: 'first_name', required: true },
        { property: 'last_name', required: false },
      ],
    },
  } as const;
  const { source } = sampleOf(given, 'Python');
  expect([...source.matchAll(/"required": (\w+)/g)].map(([, word]) => word)).toEqual(['True', 'False']);
  expect(source.includes('"reason": "true"')).toBe(true);
});
