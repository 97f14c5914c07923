import { expect, test } from 'vitest';
import { readSettings } from '../../../infra/settings.ts';

const given = (settings: Record<string, unknown>) => () => readSettings(settings);

test('the default settings are those of production', () => {
  expect(given({})()).toEqual({
    stage: 'production',
    accountConcurrency: 1_000,
    alarmAge: 60,
    alarmLatency: 30,
    counterRetention: 400,
    messageRetention: 90,
    requestRetention: 30,
    jidDomain: 'users.example.com',
    logRetention: 30,
    throttleRate: 500,
    throttleBurst: 1_000,
    removalPolicy: 'retain',
    bundling: 'minified',
    conditions: [],
    tags: {},
  });
});

test('numbers may be given as strings', () => {
  expect(given({ logRetention: '90', throttleRate: 10 })()).toMatchObject({ logRetention: 90, throttleRate: 10 });
});

test.each<[Record<string, unknown>, string]>([
  [{ stage: 'Prod!' }, 'stage'],
  [{ logRetention: '31' }, 'logRetention'],
  [{ alarmTopik: 'arn:aws:sns:…' }, 'alarmTopik: there is no such setting'],
  [{ throttleRate: 'many' }, 'throttleRate'],
  [{ removalPolicy: 'keep' }, 'removalPolicy'],
  [{ warmWriteUnits: '3999' }, 'warmWriteUnits'],
  [{ tags: { 'aws:stage': 'x' } }, 'does not begin with aws:'],
  [{ tags: { owner: 'a#b' } }, "tags.owner: a tag's value has at most 256"],
  [{ alarmEmail: 'operators' }, 'alarmEmail: must be an email address'],
  [{ monthlyBudget: 100 }, 'monthlyBudget: requires alarmEmail'],
  [{ accountConcurrency: 9 }, 'accountConcurrency'],
  [{ baseDomain: 'https://api.example.com' }, 'baseDomain'],
  [{ baseDomain: 'api.example.com' }, 'baseDomain and baseCertificate: give both or neither'],
  [{ bridgeCertificate: 'arn:aws:acm:…' }, 'bridgeDomain and bridgeCertificate: give both or neither'],
])('the error for an invalid setting contains its name: %o', (settings, named) => {
  expect(given(settings)).toThrow(named);
});
