/** Stages as files: which deployment a command means, and what happens if it does not say so. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { settingNames } from '../../../infra/settings.ts';
import { NOT_IN_FILES, STAGES_FOLDER, settingsFrom, stagesIn } from '../../../infra/stages.ts';

let folder: string;

const FILES = {
  'north.json': '{ "baseDomain": "api.example.com", "baseCertificate": "arn:aws:acm:…", "logRetention": 90 }',
  'south.json': '{}',
  'typo.json': '{ "alarmTopik": "arn:aws:sns:…", "logRetention": 31 }',
  'broken.json': '{ "logRetention": 30, }',
  'list.json': '[]',
  'named.json': '{ "stage": "production" }',
  'local.json': '{ "conditions": ["local-stack"] }',
  'Upper.json': '{}',
  'README.md': '',
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stages-'));
  for (const [name, text] of Object.entries(FILES)) await writeFile(join(folder, name), text);
});

afterAll(() => rm(folder, { recursive: true }));

/** What a deployment with this CDK context would use. */
const settings = (context: Record<string, unknown>) => settingsFrom((name) => context[name], folder);

test("a stage's settings are those of its file, and defaults", () => {
  expect(settings({ stage: 'north' })).toMatchObject({
    stage: 'north',
    baseDomain: 'api.example.com',
    logRetention: 90,
    messageRetention: 90,
  });
  expect(settings({ stage: 'south' })).toMatchObject({ stage: 'south', logRetention: 30 });
});

describe('a forgotten option removes nothing:', () => {
  test('without a stage, nothing is synthesised', () => {
    expect(() => settings({})).toThrow(
      'Choose a stage: -c stage=NAME. Stages: Upper, broken, list, local, named, north',
    );
  });

  test('cdk.json chooses production by default, which has a file', async () => {
    const { context } = JSON.parse(await readFile(new URL('../../../cdk.json', import.meta.url), 'utf8'));
    expect(context).toEqual({ stage: 'production' });
    expect(stagesIn(STAGES_FOLDER)).toContain(context.stage);
  });

  test.each(settingNames.filter((name) => name !== 'stage'))('%s cannot be given as an option', (name) => {
    expect(() => settings({ stage: 'north', [name]: '1' })).toThrow(
      `Settings belong in infra/stages/north.json, not in the CDK context: ${name}. The next deployment`,
    );
  });

  test('all settings cannot be given as one option, which is a string', () => {
    expect(() => settings({ stage: 'north', settings: '{}' })).toThrow('not in the CDK context: settings.');
    expect(() => settings({ settings: '{}' })).toThrow('Choose a stage');
  });
});

test.each<[string, string | RegExp]>([
  ['typo', 'Settings are wrong (infra/stages/typo.json): alarmTopik: there is no such setting; logRetention: Invalid'],
  ['broken', /^infra\/stages\/broken\.json is not JSON: .*(position|line)/],
  ['list', 'infra/stages/list.json must contain a JSON object of settings.'],
  ['named', 'infra/stages/named.json cannot contain stage.'],
  ['local', 'infra/stages/local.json cannot contain conditions.'],
  ['Upper', 'Settings are wrong (infra/stages/Upper.json): stage: must be lower-case words'],
  ['east', 'There is no infra/stages/east.json. Stages: '],
  ['../stages/north', 'There is no infra/stages/../stages/north.json. Stages: '],
  ['README', 'There is no infra/stages/README.json. Stages: '],
])('the error for stage %s names its file and what is wrong', (stage, message) => {
  expect(() => settings({ stage })).toThrow(message);
});

test('a program may pass all settings as an object', () => {
  expect(settings({ settings: { bundling: 'mapped' } })).toMatchObject({ stage: 'production', bundling: 'mapped' });
  expect(() => settings({ settings: { bundle: 'mapped' } })).toThrow('(given by a program): bundle: there is no such');
});

test('every stage in the repository is valid', () => {
  expect(stagesIn(STAGES_FOLDER)).toEqual(['production', 'staging']);
  for (const stage of stagesIn(STAGES_FOLDER)) {
    expect(settingsFrom((name) => (name === 'stage' ? stage : undefined))).toMatchObject({ stage });
  }
});

test('the guide for operators lists every setting, and no other', async () => {
  const guide = await readFile('infra/docs/operator.md', 'utf8');
  const [, table = ''] = /\n\| setting .*\n\| -.*\n((?:\|.*\n)+)/.exec(guide) ?? [];
  const listed = table
    .split('\n')
    .flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name));
  expect(listed.toSorted()).toEqual(settingNames.filter((name) => !NOT_IN_FILES.includes(name)).toSorted());
});
