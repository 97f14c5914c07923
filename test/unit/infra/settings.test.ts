import { expect, test } from 'vitest';
import { readSettings } from '../../../infra/settings.ts';

const given = (settings: Record<string, unknown>) => () => readSettings((name) => settings[name]);

test('the default settings are those of production', () => {
  expect(given({})()).toEqual({
    stage: 'production',
    alarmAge: 60,
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
  });
});

test('settings are read from strings of the command line and from numbers of cdk.json', () => {
  expect(given({ logRetention: '90', throttleRate: 10 })()).toMatchObject({ logRetention: 90, throttleRate: 10 });
});

test.each<[Record<string, unknown>, string]>([
  [{ stage: 'Prod!' }, 'stage'],
  [{ logRetention: '31' }, 'logRetention'],
  [{ throttleRate: 'many' }, 'throttleRate'],
  [{ removalPolicy: 'keep' }, 'removalPolicy'],
  [{ warmWriteUnits: '3999' }, 'warmWriteUnits'],
  [{ baseDomain: 'https://api.example.com' }, 'baseDomain'],
  [{ baseDomain: 'api.example.com' }, 'baseDomain and baseCertificate: give both or neither'],
  [{ bridgeCertificate: 'arn:aws:acm:…' }, 'bridgeDomain and bridgeCertificate: give both or neither'],
])('the error for an invalid setting contains its name: %o', (settings, named) => {
  expect(given(settings)).toThrow(named);
});
