/**
 * Consent receipts as consent records in the structure of ISO/IEC TS 27560, written in JSON-LD with the Data Privacy
 * Vocabulary (DPV 2). Values are not contained.
 *
 * Sources: "Consent Records and Receipts as per ISO/IEC TS 27560:2023 using DPV" (W3C DPVCG, Final Community Group Report,
 * 2024-08-01, https://w3id.org/dpv/guides/consent-27560), and the vocabularies https://w3id.org/dpv and
 * https://w3id.org/dpv/pd. The report has tables of fields, but neither a JSON Schema nor SHACL shapes.
 */
import * as v from 'valibot';
import type { ConsentReceipt } from '../../../shared/user-data/consent-receipts.ts';
import { catalogue, isAutomatic } from '../../../shared/users/profile-properties.ts';

/** A node of JSON-LD, by compact names. */
type Node = Record<string, unknown>;

const PREFIXES = {
  dpv: 'https://w3id.org/dpv#',
  pd: 'https://w3id.org/dpv/pd#',
  loc: 'https://w3id.org/dpv/loc#',
  'eu-gdpr': 'https://w3id.org/dpv/legal/eu/gdpr#',
  dct: 'http://purl.org/dc/terms/',
  rdf: 'http://www.w3.org/1999/02/22-rdf-syntax-ns#',
  schema: 'https://schema.org/',
  skos: 'http://www.w3.org/2004/02/skos/core#',
  xsd: 'http://www.w3.org/2001/XMLSchema#',
};

/** Members whose texts are names of things. */
const REFERENCES = [
  'dct:conformsTo',
  'dpv:hasActivityStatus',
  'dpv:hasApplicableLaw',
  'dpv:hasDataController',
  'dpv:hasJurisdiction',
  'dpv:hasLegalBasis',
  'dpv:hasLocation',
  'dpv:hasNotice',
  'dpv:hasPersonalData',
  'dpv:hasProcessing',
  'dpv:hasPurpose',
  'dpv:hasRecipient',
  'dpv:hasRight',
  'dpv:isIndicatedBy',
  'skos:broader',
];

const TIMES = ['dct:created', 'dct:date', 'dct:modified', 'dpv:isIndicatedAtTime'];

/** The context is part of the document: nothing is loaded to read it. */
const CONTEXT = {
  ...PREFIXES,
  ...Object.fromEntries(REFERENCES.map((name) => [name, { '@type': '@id' }])),
  ...Object.fromEntries(TIMES.map((name) => [name, { '@type': 'xsd:dateTime' }])),
};

const SCHEMA = 'https://w3id.org/dpv/schema/dpv-27560#record';

/** The terms of the extension for personal data; it has none for the parts of a name. Other properties have a label. */
const CATEGORIES: Readonly<Record<string, string>> = {
  first_name: 'pd:Name',
  last_name: 'pd:Name',
  display_name: 'pd:Name',
  number: 'pd:TelephoneNumber',
  id_number: 'pd:OfficialID',
  citizenship: 'pd:Citizenship',
  device_platform: 'pd:DeviceOperatingSystem',
  app_version: 'pd:DeviceApplications',
  device_make: 'pd:DeviceBased',
  device_model: 'pd:DeviceBased',
  device_tac: 'pd:DeviceBased',
};

const members = v.record(
  v.pipe(
    v.string(),
    v.check(
      (name) => Object.keys(PREFIXES).includes(name.split(':')[0] ?? '') && /^[a-z-]+:[A-Za-z]+$/.test(name),
      `must be a name with one of the prefixes ${Object.keys(PREFIXES).join(', ')}`,
    ),
  ),
  v.unknown(),
);

/** What the service does not know, and the operator adds: members of each record, of its processes, and of accounts. */
export const operatorFacts = v.strictObject({
  record: v.optional(members, {}),
  process: v.optional(members, {}),
  /** Of the processes with automatic properties, which are not based on consent. */
  automatic: v.optional(members, {}),
  accounts: v.optional(v.record(v.string(), members), {}),
});

type OperatorFacts = v.InferOutput<typeof operatorFacts>;

interface Known {
  /** The user's number, or the pseudonym of a removed user. */
  person: string;
  /** The user's receipts, oldest first. */
  receipts: ConsentReceipt[];
  /** The display names of accounts, by id. */
  names: ReadonlyMap<string, string>;
  facts?: OperatorFacts;
}

/** The properties of receipts that are not in the catalogue: it is unknown whether they were automatic. */
export const unknownProperties = (receipts: ConsentReceipt[]): string[] =>
  [...new Set(receipts.flatMap(({ properties }) => properties))].filter((name) => catalogue[name] === undefined).sort();

/** The records of a user: one for each request of each account, and for each retrieval without a request. */
export const consentRecords = ({ person, receipts, names, facts = v.parse(operatorFacts, {}) }: Known) => ({
  '@context': CONTEXT,
  '@graph': [...Map.groupBy(receipts, ({ account, request }) => `${account} ${request}`).values()].flatMap((own) =>
    recordOf(own, person, names, facts),
  ),
});

const USER = '_:user';
const accountNode = (account: string): string => `_:account-${account}`;
const propertyNode = (name: string): string => `_:property-${name}`;

/** The receipts of one request as a record. */
const recordOf = (receipts: ConsentReceipt[], person: string, names: Known['names'], facts: OperatorFacts): Node[] => {
  const [first] = receipts;
  if (first === undefined) return [];
  const { account, request } = first;
  // A retrieval without a request has no reason: it releases automatic properties only.
  const isConsent = (name: string): boolean => first.reason !== undefined && !isAutomatic(name);
  const consented = limitedTo(receipts, isConsent);
  const automatic = limitedTo(receipts, (name) => !isConsent(name));
  const record: Node = {
    '@id': `urn:uuid:${request}`,
    '@type': consented.length > 0 ? 'dpv:ConsentRecord' : 'dpv:DataProcessingRecord',
    ...(consented.length > 0 && { 'dct:conformsTo': SCHEMA }),
    'dct:identifier': request,
    'dct:created': utc(first.created),
    'dct:modified': utc(receipts.at(-1)?.created ?? first.created),
    'dpv:hasDataSubject': { '@id': USER, '@type': 'dpv:DataSubject', 'dpv:hasIdentifier': person },
    'dpv:hasProcess': [
      ...(consented.length > 0 ? [consentProcess(consented, facts)] : []),
      ...(automatic.length > 0 ? [automaticProcess(automatic, facts)] : []),
    ],
    ...(consented.length > 0 && {
      'dpv:hasConsentStatus': consented.flatMap((receipt) => consentStatus(receipt)),
    }),
    'dpv:hasEntity': [
      withAdded(
        {
          '@id': accountNode(account),
          '@type': ['dpv:Organisation', 'dpv:DataController'],
          'dpv:hasIdentifier': account,
          'dpv:hasName': names.get(account) ?? account,
        },
        facts.accounts[account] ?? {},
      ),
    ],
  };
  return [withAdded(record, facts.record)];
};

/** Receipts with only some of their properties; those without any are left out. */
const limitedTo = (receipts: ConsentReceipt[], isWanted: (name: string) => boolean): ConsentReceipt[] =>
  receipts
    .map((receipt) => ({ ...receipt, properties: receipt.properties.filter(isWanted) }))
    .filter(({ properties }) => properties.length > 0);

/** What the user consented to. The user withdraws consent in the app. */
const consentProcess = (receipts: ConsentReceipt[], { process }: OperatorFacts): Node =>
  withAdded(
    {
      ...processOf(receipts),
      'dpv:hasLegalBasis': 'dpv:ExpressedConsent',
      'dpv:hasConsentControl': { '@type': 'dpv:WithdrawConsent', 'dpv:isExercisedAt': 'the mobile app' },
    },
    process,
  );

/**
 * What businesses receive without asking. Which legal basis this has, is for the operator to say: DPV's general one says
 * no more than that it is another one than consent.
 */
const automaticProcess = (receipts: ConsentReceipt[], { process, automatic }: OperatorFacts): Node =>
  withAdded(
    {
      ...processOf(receipts),
      ...('dpv:hasLegalBasis' in automatic
        ? {}
        : {
            'dpv:hasLegalBasis': {
              '@type': 'dpv:LegalBasis',
              'dct:description': 'Not consent: an automatic property is released without asking the user.',
            },
          }),
      'dpv:hasActivityStatus': receipts.flatMap(activityStatus),
    },
    { ...process, ...automatic },
  );

/** The members that both kinds of processes have. */
const processOf = (receipts: ConsentReceipt[]): Node => {
  const account = accountNode(receipts[0]?.account ?? '');
  const reasons = [...new Set(receipts.flatMap(({ reason }) => reason ?? []))];
  const properties = [...new Set(receipts.flatMap((receipt) => receipt.properties))].sort();
  const conditions = [
    // The business deletes its copy when the consent ends. What was retrieved without a request has no end.
    ...(reasons.length > 0 ? [{ '@type': 'dpv:StorageDuration', 'dpv:hasDuration': until(undefined) }] : []),
    ...receipts.filter(({ event }) => event === 'deleted').map((receipt) => deletion(receipt, account)),
  ];
  return {
    '@type': 'dpv:Process',
    ...(reasons.length > 0 && {
      'dpv:hasPurpose': reasons.map((reason) => ({ '@type': 'dpv:Purpose', 'dct:description': reason })),
    }),
    'dpv:hasPersonalData': properties.map(personalData),
    'dpv:hasProcessing': 'dpv:Disclose',
    'dpv:hasDataController': account,
    'dpv:hasRecipient': account,
    ...(conditions.length > 0 && { 'dpv:hasStorageCondition': conditions }),
  };
};

const personalData = (name: string): Node => ({
  '@id': propertyNode(name),
  '@type': 'dpv:PersonalData',
  ...(CATEGORIES[name] !== undefined && { 'skos:broader': CATEGORIES[name] }),
  'skos:prefLabel': name,
  ...(catalogue[name] !== undefined && { 'dct:description': catalogue[name].description }),
});

/** The deletion that the business has acknowledged. */
const deletion = ({ created, properties }: ConsentReceipt, account: string): Node => ({
  '@type': 'dpv:StorageDeletion',
  'dpv:hasActivityStatus': 'dpv:ActivityCompleted',
  'dct:date': utc(created),
  'dpv:isIndicatedBy': account,
  'dpv:hasPersonalData': properties.map(propertyNode),
});

/** A consent that was given, or has ended. The acknowledged deletion is no state of a consent. */
const consentStatus = ({ account, event, created, properties, valid_until }: ConsentReceipt): Node[] => {
  if (event === 'deleted') return [];
  const about = { 'dpv:isIndicatedAtTime': utc(created), 'dpv:hasPersonalData': properties.map(propertyNode) };
  if (event === undefined) {
    return [
      {
        '@type': ['dpv:ConsentGiven', 'dpv:ExpressedConsent'],
        ...about,
        'dpv:hasDuration': until(valid_until),
        'dpv:isIndicatedBy': USER,
        'dpv:hasIndicationMethod': 'approval in the mobile app',
      },
    ];
  }
  const isWithdrawn = event === 'withdrawn';
  return [
    {
      '@type': isWithdrawn ? 'dpv:ConsentWithdrawn' : 'dpv:ConsentExpired',
      ...about,
      'dpv:hasDuration': { '@type': 'dpv:EndlessDuration' },
      // The business set the time after which the consent expires.
      'dpv:isIndicatedBy': isWithdrawn ? USER : accountNode(account),
      'dpv:hasIndicationMethod': isWithdrawn
        ? 'withdrawal in the mobile app, or removal of the user'
        : 'end of the time for which the consent was given',
    },
  ];
};

/** The use of automatic properties: it began, or has ended as a consent ends. */
const activityStatus = ({ event, created, properties, valid_until, reason }: ConsentReceipt): Node[] =>
  event === 'deleted'
    ? []
    : [
        {
          '@type': event === undefined ? 'dpv:ActivityOngoing' : 'dpv:ActivityHalted',
          'dpv:isIndicatedAtTime': utc(created),
          'dpv:hasPersonalData': properties.map(propertyNode),
          ...(event === undefined && reason !== undefined && { 'dpv:hasDuration': until(valid_until) }),
        },
      ];

/** How long something is valid: until a time, or until the user ends it. */
const until = (time: string | undefined): Node =>
  time === undefined
    ? { '@type': 'dpv:UntilEventDuration', 'rdf:value': 'end of the consent, or removal of the user' }
    : { '@type': 'dpv:UntilTimeDuration', 'rdf:value': utc(time) };

/** A time of the service, which is in UTC, as a time of XML Schema. */
const utc = (time: string): string => `${time}Z`;

/** A node with further members. Nothing is replaced: if a member has values, the further ones follow. */
const withAdded = (node: Node, added: Node): Node => ({
  ...node,
  ...Object.fromEntries(
    Object.entries(added).map(([name, value]) => [name, name in node ? [node[name], value].flat() : value]),
  ),
});

/** The required fields that the service does not know: each as an operator calls it, and where it is found. */
const FURTHER_FIELDS: [field: string, isIn: (record: Node) => boolean][] = [
  ['notice', (record) => 'dpv:hasNotice' in record],
  ['language', (record) => [record, ...nodesIn(record['dpv:hasNotice'])].some((node) => 'dct:language' in node)],
  ['jurisdiction', (record) => isInAll(record, 'dpv:hasJurisdiction')],
  ['rights', (record) => isInAll(record, 'dpv:hasRight')],
  ['storage location', (record) => nodesIn(record['dpv:hasProcess']).every(hasLocation)],
  ["account's address", (record) => nodesIn(record['dpv:hasEntity']).every((entity) => 'schema:address' in entity)],
  [
    "account's contact",
    (record) => nodesIn(record['dpv:hasEntity']).every((entity) => 'schema:contactPoint' in entity),
  ],
];

/** The required fields that at least one consent record does not have. */
export const missingFields = ({ '@graph': records }: ReturnType<typeof consentRecords>): string[] =>
  FURTHER_FIELDS.filter(([, isIn]) =>
    records.some((record) => record['@type'] === 'dpv:ConsentRecord' && !isIn(record)),
  ).map(([field]) => field);

/** A field may be in the record, or in each of its processes. */
const isInAll = (record: Node, name: string): boolean =>
  name in record || nodesIn(record['dpv:hasProcess']).every((process) => name in process);

const hasLocation = (process: Node): boolean =>
  nodesIn(process['dpv:hasStorageCondition']).some((condition) => 'dpv:hasLocation' in condition);

const nodesIn = (value: unknown): Node[] => [value].flat().filter((one) => v.is(node, one));

const node = v.record(v.string(), v.unknown());
