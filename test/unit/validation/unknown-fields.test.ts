/** Unknown fields: which are ignored, and which are mistakes. Derived from the schemas of the API list. */
import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import type { Endpoint } from '../../../shared/api/endpoint.ts';
import { api, type EndpointName } from '../../../shared/api/index.ts';
import { listOf, oneOrList } from '../../../shared/validation/bounded.ts';
import { namesOf, unknownFields } from '../../../shared/validation/unknown-fields.ts';

const schema = v.object({
  to: oneOrList(v.string(), { max: 10, of: 'numbers' }),
  send_at: v.optional(v.string()),
  priority: v.nullish(v.picklist(['low'])),
  text: v.optional(
    v.pipe(
      v.object({ body: v.string() }),
      v.transform(({ body }) => body),
    ),
  ),
  data: v.optional(listOf(v.object({ property: v.string() }), { max: 10, of: 'properties' })),
  any: v.optional(v.looseObject({ known: v.string() })),
  pairs: v.optional(v.record(v.string(), v.string())),
});

const found = (input: unknown, given: v.GenericSchema | undefined = schema) =>
  unknownFields(namesOf(given), input).map(({ keys, meant }) => [keys.join('.'), meant]);

describe('a name', () => {
  test.each([
    ...['sendAt', 'SendAt', 'send-at', 'send.at', 'SEND AT', 'sendat', 'send_at_', '_send_at'],
    ...['sent_at', 'sendd_at', 'snd_at', 'esnd_at', 'send_ta', 'send_a', 'xsend_at'],
  ])('that is almost a known one is a mistake: %s', (name) => {
    expect(found({ [name]: 1 })).toEqual([[name, 'send_at']]);
  });

  test.each([
    'timezone',
    'sendAtAll',
    'send',
    'sent_to',
    'ta',
    'tos',
    'test',
    'texts',
    'date',
    '',
    '__proto__',
    'toString',
  ])('that is similar to none is ignored: %j', (name) => {
    expect(found(JSON.parse(`{${JSON.stringify(name)}: 1}`))).toEqual([[name, undefined]]);
  });

  test.each([
    ['To', 'to'],
    ['TEXT', 'text'],
    ['_text', 'text'],
  ])('of fewer than five letters is a mistake in capitals or with separators only: %s', (name, meant) => {
    expect(found({ [name]: 1 })).toEqual([[name, meant]]);
  });
});

test('a name may be in nested objects, in lists, and in every form of an input', () => {
  expect(
    found({ to: ['1'], text: { Body: '' }, data: [{ property: '' }, { propertys: '' }, 1], priority: null }),
  ).toEqual([
    ['text.Body', 'body'],
    ['data.1.propertys', 'property'],
  ]);
  const either = v.variant('type', [
    v.object({ type: v.literal('text'), text: v.object({ body: v.string() }) }),
    v.object({ type: v.literal('image'), image: v.object({ address: v.string() }) }),
  ]);
  const message = v.intersect([v.object({ to: v.string() }), either]);
  expect(found({ to: '', type: 'image', text: { bodi: 1 }, image: { adress: '' } }, message)).toEqual([
    ['text.bodi', undefined],
    ['image.adress', 'address'],
  ]);
  const lazy = v.lazy((input) => (Array.isArray(input) ? listOf(message, { max: 2, of: 'messages' }) : message));
  expect(found([{ image: { adress: '' } }], lazy)).toEqual([['0.image.adress', 'address']]);
  expect(found({ image: { adress: '' } }, lazy)).toEqual([['image.adress', 'address']]);
});

test('fields of open objects and records are known', () => {
  expect(found({ any: { knwon: 1, other: { a: 1 } }, pairs: { a: '', b: '' } })).toEqual([]);
});

test('without a schema, every parameter is unknown', () => {
  expect(unknownFields(namesOf(undefined), { limit: '1' })).toEqual([{ keys: ['limit'], meant: undefined }]);
  expect(unknownFields(namesOf(undefined), undefined)).toEqual([]);
});

test('at most 1,000 unknown fields are found, and names of any length and form are read', { tags: 'long' }, () => {
  const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`sendAt${index}`, 1]));
  expect(found(many)).toHaveLength(1_000);
  const list = Array.from({ length: 5_000 }, () => ({ foo: 1, property: '' }));
  expect(found({ data: [...list.slice(0, 900), { propertys: 1 }] }).at(-1)).toEqual(['data.900.propertys', 'property']);
  fc.assert(
    fc.property(fc.object({ key: fc.string({ unit: 'binary', maxLength: 100 }) }), (input) => {
      expect(() => found({ data: [input], ...input })).not.toThrow();
    }),
  );
});

/** Names that existing clients and platforms send, by endpoint (infra/docs/wire-facts.md, "Existing clients"). */
const SENT: Partial<Record<EndpointName, object>> = {
  sendMessage: {
    ...{
      to: '',
      recipient_type: '',
      type: '',
      priority: '',
      text: { body: '', allow_merge: true },
      image: { url: '' },
    },
    ...{ preview_url: false, quick_replies: [], send_at: '', valid_for: 60, file: { url: '' }, document: { url: '' } },
  },
  sendMessages: [{ to: '', recipient_type: '', type: '', text: { body: '', allow_merge: true }, image: { url: '' } }],
  createProfiler: { question: '', options: [] },
  answerProfiler: { profiler_id: '', option_id: '', phone_number: '' },
  startUserDataRequest: { reason: '', data: [{ property: '', reason: '', required: true }] },
  retrieveUserData: { data: [{ property: '', reason: '', required: true }], reason: '' },
  matchContacts: { contacts: [], hashed: true },
  updateAccount: { name: '' },
  setAvatar: { file: '' },
  uploadFile: { file: '', encrypted: 'true' },
  uploadImage: { file: '', encrypted: 'true' },
  receiveTestMessage: { message: { type: '', from: '', text: { body: '' }, contact: null } },
};

const QUERIES: Partial<Record<EndpointName, string[]>> = {
  sendMessage: ['job_id'],
  sendMessages: ['job_id'],
  fetchUserData: ['long_poll'],
  listLogs: ['limit', 'contact', 'state', 'job_id', 'start', 'end'],
  listJobs: ['start', 'end', 'start_date', 'end_date'],
};

describe('the API list', () => {
  const entries: [string, Endpoint][] = Object.entries(api);

  test('rejects no name that clients and platforms send', () => {
    for (const [name, body] of Object.entries(SENT)) {
      const { body: described }: Endpoint = api[name as EndpointName];
      const mistakes = unknownFields(namesOf(described?.schema), body).filter(({ meant }) => meant !== undefined);
      expect(mistakes, name).toEqual([]);
    }
    for (const [name, names] of Object.entries(QUERIES)) {
      const { query }: Endpoint = api[name as EndpointName];
      expect(unknownFields(namesOf(query), Object.fromEntries(names.map((one) => [one, '']))), name).toEqual([]);
    }
  });

  test('lets the requests of platforms, of the app network and of MCP clients have any fields, and no others', () => {
    expect(entries.filter(([, { ignoresUnknown }]) => ignoresUnknown).map(([name]) => name)).toEqual([
      'receiveRapidproMessage',
      'receiveTurnMessage',
      'receiveAppEvents',
      'handleMcpMessage',
    ]);
  });

  test('names the fields of every other body but that of several answers, which are validated one by one', () => {
    const open = entries.filter(([, { body, ignoresUnknown }]) => {
      const { fields, items, choose } = namesOf(body?.schema);
      return !ignoresUnknown && (fields ?? items?.fields ?? choose) === undefined;
    });
    expect(open.map(([name]) => name)).toEqual(['answerProfilers']);
  });
});
