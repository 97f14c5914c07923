import { readFile } from 'node:fs/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { localSettings } from '../../../infra/local/local-settings.ts';
import { executionsOf, readSettings } from '../../../infra/settings.ts';

const STREAM = 'arn:aws:dynamodb:eu-west-1:111122223333:table/restored/stream/2030-01-01T00:00:00.000';
const EXISTING = { existingTable: 'restored', existingTableStream: STREAM };

afterEach(() => void vi.unstubAllEnvs());

const given = (settings: Record<string, unknown>) => () => readSettings(settings);

test('the default settings are those of production', () => {
  expect(given({})()).toEqual({
    stage: 'production',
    accountConcurrency: 1_000,
    campaignRate: 500,
    audienceAllowance: 100,
    contactAllowance: 100_000,
    moreProperties: {},
    deliverConcurrency: 100,
    fips: false,
    waitsPerAccount: 50,
    approveNames: true,
    accountRate: 100,
    accountBurst: 200,
    alarmAge: 60,
    alarmLatency: 30,
    counterRetention: 400,
    messageRetention: 90,
    requestRetention: 30,
    jidDomain: 'users.example.com',
    logRetention: 30,
    logSampling: 1,
    systemLogLevel: 'WARN',
    throttleRate: 500,
    throttleBurst: 1_000,
    removalPolicy: 'retain',
    bundling: 'minified',
    conditions: [],
    documentation: true,
    tags: {},
  });
});

test('numbers may be given as strings', () => {
  expect(given({ logRetention: '90', throttleRate: 10 })()).toMatchObject({ logRetention: 90, throttleRate: 10 });
});

test.each([
  [10, { deliverConcurrency: 2, waitsPerAccount: 1 }],
  [100, { deliverConcurrency: 10, waitsPerAccount: 5 }],
  [999, { deliverConcurrency: 99, waitsPerAccount: 49 }],
  [50_000, { deliverConcurrency: 100, waitsPerAccount: 50 }],
])('with %i executions, delivery workers and waits of a customer are shares of them', (accountConcurrency, shares) => {
  const settings = given({ accountConcurrency })();
  expect(settings).toMatchObject(shares);
  expect(settings.fetchConcurrency).toBeUndefined();
  const own = { deliverConcurrency: 5, waitsPerAccount: 2 };
  expect(given({ accountConcurrency, ...own })()).toMatchObject(own);
});

test('the guide for operators lists what each kind of function gets of 10 to 1,000 executions', async () => {
  const guide = await readFile('infra/docs/operator.md', 'utf8');
  const rows = [10, 50, 100, 500, 1_000].map((accountConcurrency) => {
    const { longPolls, longPollsOfOne, deliver, expand, streamWorkers, minuteWorkers, others } = executionsOf(
      given({ accountConcurrency })(),
    );
    return [accountConcurrency, longPolls, longPollsOfOne, deliver, expand, streamWorkers, minuteWorkers, others];
  });
  const [, table = ''] = /\n\| executions .*\n\| -.*\n((?:\|.*\n)+)/.exec(guide) ?? [];
  const cells = table
    .trim()
    .split('\n')
    .map((row) =>
      row
        .split('|')
        .slice(1, -1)
        .map((cell) => Number(cell.replace(',', ''))),
    );
  expect(cells).toEqual(rows);
});

test('reserved executions limit long polls, and what is left for others is never negative', () => {
  expect(executionsOf(given({ fetchConcurrency: 20 })())).toMatchObject({ longPolls: 20, longPollsOfOne: 20 });
  expect(executionsOf(given({ accountConcurrency: 10, deliverConcurrency: 10 })()).others).toBe(0);
});

test('Lambda keeps 100 executions unreserved, so fetches can reserve all others', () => {
  expect(given({ fetchConcurrency: 900 })().fetchConcurrency).toBe(900);
  expect(given({ accountConcurrency: 101, fetchConcurrency: 1 })().fetchConcurrency).toBe(1);
});

test('a deployment may have properties of its own', () => {
  const moreProperties = { loyalty_tier: 'automatic', shoe_size_eu: 'approval' };
  expect(given({ moreProperties })().moreProperties).toEqual(moreProperties);
});

test('the local stack has the properties of MORE_PROPERTIES, and none without it', () => {
  vi.stubEnv('MORE_PROPERTIES', undefined);
  expect(given(localSettings('split', {}))().moreProperties).toEqual({});
  vi.stubEnv('MORE_PROPERTIES', '{"loyalty_tier":"automatic"}');
  expect(given(localSettings('split', { campaignRate: 20 }))()).toMatchObject({
    ...{ bundling: 'split', campaignRate: 20 },
    moreProperties: { loyalty_tier: 'automatic' },
  });
});

test.each<[Record<string, unknown>, string]>([
  [{ stage: 'Prod!' }, 'stage'],
  [{ logRetention: '31' }, 'logRetention'],
  [{ systemLogLevel: 'ERROR' }, 'systemLogLevel'],
  [{ logSampling: 0 }, 'logSampling'],
  [{ logSampling: 11 }, 'logSampling'],
  [{ alarmTopik: 'arn:aws:sns:…' }, 'alarmTopik: there is no such setting'],
  [{ throttleRate: 'many' }, 'throttleRate'],
  [{ removalPolicy: 'keep' }, 'removalPolicy'],
  [{ warmWriteUnits: '3999' }, 'warmWriteUnits'],
  [{ warmReadUnits: '11999' }, 'warmReadUnits'],
  [{ tags: { 'aws:stage': 'x' } }, 'does not begin with aws:'],
  [{ tags: { owner: 'a#b' } }, "tags.owner: a tag's value has at most 256"],
  [{ alarmEmail: 'operators' }, 'alarmEmail: must be an email address'],
  [{ bundling: 'split' }, 'bundling: split is for the local stack only; give minified or mapped'],
  [{ bundling: 'linked' }, 'bundling: linked is for the local stack only'],
  [{ monthlyBudget: 100 }, 'monthlyBudget: requires alarmEmail'],
  [{ existingTable: 'a b' }, 'existingTable: must be the name of a table'],
  [{ existingTable: 'restored' }, 'existingTable and existingTableStream: give both, of the same table'],
  [{ existingTableStream: STREAM }, 'existingTable and existingTableStream: give both, of the same table'],
  [{ existingTable: 'other', existingTableStream: STREAM }, 'give both, of the same table'],
  [{ existingTable: 'restored', existingTableStream: 'arn:aws:dynamodb' }, "must be the ARN of a table's stream"],
  [{ ...EXISTING, removalPolicy: 'destroy' }, 'existingTable: requires removalPolicy retain'],
  [{ ...EXISTING, warmWriteUnits: 8_000 }, 'warmWriteUnits: set the warm throughput of an existing table yourself'],
  [{ ...EXISTING, warmReadUnits: 45_000 }, 'warmReadUnits: set the warm throughput of an existing table yourself'],
  [{ moreProperties: { first_name: 'automatic' } }, 'the service has a property with this name'],
  [{ moreProperties: { device_tac: 'approval' } }, 'the service has a property with this name'],
  [{ moreProperties: { Tier: 'automatic' } }, 'lower-case words with underscores'],
  [{ moreProperties: { 'a = :b, pk': 'automatic' } }, 'lower-case words with underscores'],
  [{ moreProperties: { '': 'automatic' } }, 'lower-case words with underscores'],
  [{ moreProperties: { a__b: 'automatic' } }, 'lower-case words with underscores'],
  [{ moreProperties: { ['a'.repeat(31)]: 'automatic' } }, 'at most 30 characters'],
  [{ moreProperties: { constructor: 'automatic' } }, 'is not a name that is known'],
  [{ moreProperties: JSON.parse('{"__proto__": "automatic"}') }, 'is not a name that is known'],
  [{ moreProperties: { tier: true } }, 'must be automatic or approval'],
  [{ moreProperties: ['tier'] }, 'moreProperties'],
  [
    { moreProperties: Object.fromEntries(Array.from({ length: 31 }, (_, index) => [`p${index}`, 'automatic'])) },
    'must hold at most 30 names',
  ],
  [{ contactAllowance: 0 }, 'contactAllowance'],
  [{ accountConcurrency: 9 }, 'accountConcurrency'],
  [{ fetchConcurrency: 901 }, 'fetchConcurrency: must be at most 900'],
  [{ accountConcurrency: 10, fetchConcurrency: 1 }, 'fetchConcurrency: must be at most 0'],
  [{ accountConcurrency: 10, deliverConcurrency: 11 }, 'deliverConcurrency: must be at most accountConcurrency, 10'],
  [{ accountConcurrency: 10, waitsPerAccount: 11 }, 'waitsPerAccount: must be at most accountConcurrency, 10'],
  [{ deliverConcurrency: 1 }, 'deliverConcurrency'],
  [{ waitsPerAccount: 0 }, 'waitsPerAccount'],
  [{ accountRate: 300 }, 'accountBurst: must be at least accountRate'],
  [{ baseDomain: 'https://api.example.com' }, 'baseDomain'],
  [{ baseDomain: 'api.example.com' }, 'baseDomain and baseCertificate: give both or neither'],
  [{ bridgeCertificate: 'arn:aws:acm:…' }, 'bridgeDomain and bridgeCertificate: give both or neither'],
])('the error for an invalid setting contains its name: %o', (settings, named) => {
  expect(given(settings)).toThrow(named);
});
