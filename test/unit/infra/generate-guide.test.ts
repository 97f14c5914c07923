/** The guide "Generate a client" shows what `npm run test:clients` runs: its programs, generators and versions. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

const guide = read('infra/docs/generate.md');

test.each([
  'programs/openapi-typescript-jobs.txt',
  'programs/typescript-fetch-jobs.txt',
  'programs/Jobs.java',
  'programs/jobs.py',
  'go/jobs/main.go',
  'go/oapi-codegen.yaml',
])('the guide shows test/clients/%s as it runs there', (file) => {
  const blocks = [...guide.matchAll(/^```\w+\n(.*?)^```$/gms)].map(([, source]) => source);
  expect(blocks).toContain(read(`test/clients/${file}`));
});

test('the guide names the versions of the generators that run', () => {
  const packages: Record<string, string> = JSON.parse(read('test/clients/npm/package.json')).dependencies;
  const tools = read('test/clients/tools.ts');
  const versionOf = (name: string) => new RegExp(`${name} = '(.*)'`).exec(tools)?.[1];
  const [python] = /openapi-python-client==[\d.]+/.exec(read('test/clients/requirements.txt')) ?? [];
  const names = [
    `openapi-typescript@${packages['openapi-typescript']} `,
    `openapi-fetch@${packages['openapi-fetch']}\n`,
    `openapi-generator-cli-${versionOf('OPENAPI_GENERATOR')}.jar`,
    `oapi-codegen@v${versionOf('OAPI_CODEGEN')} `,
    `${python}\n`,
  ];
  expect(names.filter((name) => !guide.includes(name))).toEqual([]);
});
