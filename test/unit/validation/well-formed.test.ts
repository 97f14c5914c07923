/** No valid text of a JSON body contains half of a surrogate pair: UTF-8 cannot encode it, and the table refuses it. */
import * as v from 'valibot';
import { expect, test } from 'vitest';
import type { Endpoint } from '../../../shared/api/endpoint.ts';
import { api } from '../../../shared/api/index.ts';
import { appEvent } from '../../../shared/app-network/events.ts';
import { turnMessages } from '../../../shared/destinations/turn.ts';

/** Texts of different lengths and forms, so that few are invalid for another reason. */
const BROKEN = [
  '\udc00',
  'a\udc00b',
  `${'a'.repeat(40)}\ud800`,
  'https://a.example/\udc00',
  '2026-11-28T12:00:00Z\udc00',
];

/** Inputs that choose all forms of the schemas that depend on the input. */
const CHOICES = [[], {}, { hashed: true }, { turn: { type: 'text' } }, { type: 'text' }];

type Part = v.GenericSchema & Record<'entries' | 'item' | 'wrapped' | 'options' | 'key' | 'value' | 'getter', unknown>;

const isPart = (value: unknown): value is Part => Object(value)['~run'] !== undefined;

/** The texts within a schema, each with its place: the innermost schemas that have all checks of the text. */
const textsOf = (schema: unknown, place: string): [string, v.GenericSchema][] => {
  if (!isPart(schema)) return [];
  const { type, entries, item, wrapped, options, key, value, getter } = schema;
  // Of a time, a number is valid, too.
  if (type === 'string' || (type === 'union' && 'pipe' in schema)) return [[place, schema]];
  if (typeof getter === 'function') return CHOICES.flatMap((input) => textsOf(getter(input), place));
  return [
    ...Object.entries(Object(entries)).flatMap(([name, field]) => textsOf(field, `${place}.${name}`)),
    ...(Array.isArray(options) ? options.flatMap((option) => textsOf(option, place)) : []),
    ...[item, wrapped, key, value].flatMap((inner) => textsOf(inner, place)),
  ];
};

/** The bodies in JSON. A form is sent as UTF-8. */
const bodies = Object.entries<Endpoint>(api).flatMap(([name, { body }]) =>
  body?.type === 'json' ? textsOf(body.schema, name) : [],
);

/** The code of a link has a form of its own: another text is not found, whatever it contains. */
const OF_A_LINK = 'createSession.code';

const texts = new Map(
  [
    ...bodies,
    // Their endpoints check them one by one, or after the signature.
    ...textsOf(appEvent, 'an event of the app network'),
    ...turnMessages.flatMap((message) => textsOf(message, 'a message of Turn')),
  ].map(([place, schema]) => [schema, place]),
);

test.each([...texts].filter(([, place]) => place !== OF_A_LINK).map(([schema, place]) => ({ place, schema })))(
  '$place is well-formed',
  ({ schema }) => {
    for (const broken of BROKEN) {
      const { success, output } = v.safeParse(schema, broken);
      expect(success && output).not.toSatisfy((text) => typeof text === 'string' && !text.isWellFormed());
    }
  },
);

test('a response that a listener has cut within a character is accepted, without the half', () => {
  const body = { claim: 'a claim', retry_after: '5\ud800', response: 'Thanks \ud83d' };
  const { schema } = api.settleDelivery.body;
  expect(v.parse(schema, body)).toMatchObject({ retry_after: '5\ufffd', response: 'Thanks \ufffd' });
});
