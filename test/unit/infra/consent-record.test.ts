/** Consent records in the structure of ISO/IEC TS 27560, as JSON-LD with DPV. */
import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { consentRecords, missingFields, operatorFacts } from '../../../infra/operator/people/consent-record.ts';
import type { ConsentReceipt } from '../../../shared/user-data/consent-receipts.ts';

const REQUEST = '01a3f0de-7b52-7c33-8a5e-0c2f4d6e8b10';
const RETRIEVAL = '01a3f0de-7b52-7c33-8a5e-0c2f4d6e8b11';
const PERSON = '27820000001';

const receipt = (created: string, properties: string[], more: Partial<ConsentReceipt> = {}): ConsentReceipt => ({
  account: 'acme-research',
  request: REQUEST,
  properties,
  reason: 'To greet you',
  created: `2027-01-${created}T12:00:00.000000`,
  ...more,
});

/** A request with automatic properties, whose consent ended in parts; and a retrieval without a request. */
const receipts = [
  receipt('01', ['device_make']),
  receipt('02', ['first_name', 'last_name'], { valid_until: '2027-01-09T12:00:00.000000' }),
  receipt('03', ['device_make', 'first_name'], { event: 'withdrawn' }),
  receipt('04', ['device_make', 'first_name'], { event: 'deleted' }),
  receipt('09', ['last_name'], { event: 'expired' }),
  { account: 'acme-research', request: RETRIEVAL, properties: ['app_version'], created: '2027-01-10T12:00:00.000000' },
];

const names = new Map([['acme-research', 'Acme Research']]);

/** The file of the guide for operators. */
const guide = readFileSync('infra/docs/operator.md', 'utf8');
const [, example = ''] = /it adds them from a file:\n\n```json\n(.*?)```/s.exec(guide) ?? [];
const facts = v.parse(operatorFacts, JSON.parse(example));

/** The document as a reader receives it. */
// biome-ignore lint/suspicious/noExplicitAny: JSON
const read = (more: Partial<Parameters<typeof consentRecords>[0]> = {}): any =>
  JSON.parse(JSON.stringify(consentRecords({ person: PERSON, receipts, names, ...more })));

/** All objects of a document, without its context. */
const objectsIn = (value: unknown): object[] =>
  typeof value !== 'object' || value === null
    ? []
    : [...(Array.isArray(value) ? [] : [value]), ...Object.values(value).flatMap(objectsIn)];

describe('a consent record', () => {
  test('has the history of the request: consent that was given, and how each part ended', () => {
    const [record] = read()['@graph'];
    expect(record).toMatchObject({
      '@id': `urn:uuid:${REQUEST}`,
      '@type': 'dpv:ConsentRecord',
      'dct:conformsTo': 'https://w3id.org/dpv/schema/dpv-27560#record',
      'dct:created': '2027-01-01T12:00:00.000000Z',
      'dct:modified': '2027-01-09T12:00:00.000000Z',
      'dpv:hasDataSubject': { '@type': 'dpv:DataSubject', 'dpv:hasIdentifier': PERSON },
      'dpv:hasEntity': [{ 'dpv:hasIdentifier': 'acme-research', 'dpv:hasName': 'Acme Research' }],
    });
    expect(record['dpv:hasConsentStatus']).toEqual([
      {
        '@type': ['dpv:ConsentGiven', 'dpv:ExpressedConsent'],
        'dpv:isIndicatedAtTime': '2027-01-02T12:00:00.000000Z',
        'dpv:hasPersonalData': ['_:property-first_name', '_:property-last_name'],
        'dpv:hasDuration': { '@type': 'dpv:UntilTimeDuration', 'rdf:value': '2027-01-09T12:00:00.000000Z' },
        'dpv:isIndicatedBy': '_:user',
        'dpv:hasIndicationMethod': 'approval in the mobile app',
      },
      expect.objectContaining({
        '@type': 'dpv:ConsentWithdrawn',
        'dpv:isIndicatedAtTime': '2027-01-03T12:00:00.000000Z',
        'dpv:hasPersonalData': ['_:property-first_name'],
        'dpv:isIndicatedBy': '_:user',
      }),
      expect.objectContaining({
        '@type': 'dpv:ConsentExpired',
        'dpv:hasPersonalData': ['_:property-last_name'],
        'dpv:isIndicatedBy': '_:account-acme-research',
      }),
    ]);
  });

  test('has the reason as the purpose, the properties as personal data, and the acknowledged deletion', () => {
    const [consented] = read()['@graph'][0]['dpv:hasProcess'];
    expect(consented).toMatchObject({
      'dpv:hasPurpose': [{ '@type': 'dpv:Purpose', 'dct:description': 'To greet you' }],
      'dpv:hasPersonalData': [
        { 'skos:prefLabel': 'first_name', 'skos:broader': 'pd:Name' },
        { 'skos:prefLabel': 'last_name', 'skos:broader': 'pd:Name' },
      ],
      'dpv:hasLegalBasis': 'dpv:ExpressedConsent',
      'dpv:hasConsentControl': { '@type': 'dpv:WithdrawConsent' },
    });
    expect(consented['dpv:hasStorageCondition'][1]).toEqual({
      '@type': 'dpv:StorageDeletion',
      'dpv:hasActivityStatus': 'dpv:ActivityCompleted',
      'dct:date': '2027-01-04T12:00:00.000000Z',
      'dpv:isIndicatedBy': '_:account-acme-research',
      'dpv:hasPersonalData': ['_:property-first_name'],
    });
  });

  test('does not claim consent for automatic properties, of a request or of a retrieval without one', () => {
    const [{ 'dpv:hasProcess': processes }, retrieval] = read()['@graph'];
    expect(processes[1]).toMatchObject({
      'dpv:hasPersonalData': [{ 'skos:prefLabel': 'device_make' }],
      'dpv:hasLegalBasis': { '@type': 'dpv:LegalBasis' },
      'dpv:hasActivityStatus': [{ '@type': 'dpv:ActivityOngoing' }, { '@type': 'dpv:ActivityHalted' }],
    });
    expect(retrieval).toMatchObject({
      '@type': 'dpv:DataProcessingRecord',
      'dct:identifier': RETRIEVAL,
      'dpv:hasProcess': [{ 'dpv:hasPersonalData': [{ 'skos:prefLabel': 'app_version' }] }],
    });
    expect(JSON.stringify([processes[1], retrieval])).not.toMatch(/Consent"|ConsentGiven|conformsTo/);
    const [, declared] = read({ facts })['@graph'][0]['dpv:hasProcess'];
    expect(declared['dpv:hasLegalBasis']).toBe('dpv:LegitimateInterest');
  });

  test('exists for each request of each account', () => {
    const other = { ...receipt('05', ['citizenship']), account: 'other', request: RETRIEVAL.replace('11', '12') };
    const records = read({ receipts: [...receipts, other] })['@graph'];
    expect(records).toHaveLength(3);
    // An account that was closed has no name.
    expect(records[2]['dpv:hasEntity']).toMatchObject([{ 'dpv:hasIdentifier': 'other', 'dpv:hasName': 'other' }]);
  });

  test('says which required fields are missing, and has all of them with the file of the guide', () => {
    expect(missingFields(consentRecords({ person: PERSON, receipts, names }))).toEqual([
      'notice',
      'language',
      'jurisdiction',
      'rights',
      'storage location',
      "account's address",
      "account's contact",
    ]);
    expect(missingFields(consentRecords({ person: PERSON, receipts, names, facts }))).toEqual([]);
  });

  // The fields that the report of 2024-08-01 requires: "This field MUST be present."
  const path = (names: string) => (value: unknown) =>
    names.split(' ').reduce<unknown[]>(
      (found, name) =>
        found.flat().flatMap((one) => {
          const member: unknown = typeof one === 'object' && one !== null ? Reflect.get(one, name) : undefined;
          return member === undefined ? [] : [member];
        }),
      [value],
    );
  test.each([
    ['schema version', 'dct:conformsTo'],
    ['record identifier', 'dct:identifier'],
    ['data subject', 'dpv:hasDataSubject dpv:hasIdentifier'],
    ['notice', 'dpv:hasNotice @type'],
    ['notice language', 'dpv:hasNotice dct:language'],
    ['purpose', 'dpv:hasProcess dpv:hasPurpose'],
    ['personal data', 'dpv:hasProcess dpv:hasPersonalData'],
    ['personal data type', 'dpv:hasProcess dpv:hasPersonalData skos:broader'],
    ['storage duration', 'dpv:hasProcess dpv:hasStorageCondition dpv:hasDuration'],
    ['storage location', 'dpv:hasProcess dpv:hasStorageCondition dpv:hasLocation'],
    ['data controller', 'dpv:hasProcess dpv:hasDataController'],
    ['recipients', 'dpv:hasProcess dpv:hasRecipient'],
    ['withdrawal', 'dpv:hasProcess dpv:hasConsentControl dpv:isExercisedAt'],
    ['jurisdiction', 'dpv:hasJurisdiction'],
    ['rights', 'dpv:hasRight'],
    ['entity name', 'dpv:hasEntity dpv:hasName'],
    ['entity identifier', 'dpv:hasEntity dpv:hasIdentifier'],
    ['entity role', 'dpv:hasEntity @type'],
    ['entity contact', 'dpv:hasEntity schema:contactPoint'],
    ['entity address', 'dpv:hasEntity schema:address'],
    ['consent type', 'dpv:hasProcess dpv:hasLegalBasis'],
    ['consent state', 'dpv:hasConsentStatus @type'],
    ['event time', 'dpv:hasConsentStatus dpv:isIndicatedAtTime'],
    ['event duration', 'dpv:hasConsentStatus dpv:hasDuration'],
    ['event entity', 'dpv:hasConsentStatus dpv:isIndicatedBy'],
  ])('has the required field %s', (_field, names) => {
    const [record] = read({ facts })['@graph'];
    expect(path(names)(record).flat().length).toBeGreaterThan(0);
    const events = record['dpv:hasConsentStatus'].length;
    if (names.startsWith('dpv:hasConsentStatus ')) expect(path(names)(record)).toHaveLength(events);
  });
});

describe('the document', () => {
  test('is JSON-LD that needs no network: its context is contained, and each name has a prefix of it', () => {
    const { '@context': context, ...document } = read({ facts });
    for (const value of Object.values(context)) {
      if (typeof value === 'string') expect(value).toMatch(/^https?:\/\/[^ ]+[/#]$/);
      else expect(value).toEqual({ '@type': expect.stringMatching(/^(@id|xsd:dateTime)$/) });
    }
    const hasPrefix = (name: string) => typeof context[name.split(':')[0] ?? ''] === 'string';
    for (const object of objectsIn(document)) {
      expect(object).not.toHaveProperty('@context');
      for (const [name, value] of Object.entries(object)) {
        if (!['@graph', '@id', '@type'].includes(name)) expect(name).toSatisfy(hasPrefix);
        const isReference = name.startsWith('@') || context[name]?.['@type'] === '@id';
        const texts = [value].flat().filter((one): one is string => typeof one === 'string');
        if (!isReference) continue;
        for (const text of texts) {
          expect(text).toSatisfy((it: string) => hasPrefix(it) || /^(_:[a-z]|urn:uuid:|https:\/\/)/.test(it));
        }
      }
    }
  });

  test('names no property that it does not describe', () => {
    const [record] = read()['@graph'];
    const described = record['dpv:hasProcess'].flatMap((process: Record<string, { '@id': string }[]>) =>
      process['dpv:hasPersonalData']?.map((one) => one['@id']),
    );
    const named = JSON.stringify(record).match(/_:property-[a-z_]+/g);
    expect(new Set(named)).toEqual(new Set(described));
  });

  test('takes facts of the operator that have a known prefix, and no other members', () => {
    for (const wrong of [{ record: { hasNotice: 'x' } }, { record: { 'dvp:hasNotice': 'x' } }, { notice: {} }, null]) {
      expect(v.safeParse(operatorFacts, wrong).success).toBe(false);
    }
    const added = v.parse(operatorFacts, { process: { 'dpv:hasLegalBasis': 'eu-gdpr:A6-1-a' } });
    const [consented] = read({ facts: added })['@graph'][0]['dpv:hasProcess'];
    expect(consented['dpv:hasLegalBasis']).toEqual(['dpv:ExpressedConsent', 'eu-gdpr:A6-1-a']);
  });
});
