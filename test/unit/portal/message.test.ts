import { describe, expect, test } from 'vitest';
import { type Draft, emptyDraft } from '../../../infra/portal/campaigns/draft.ts';
import { findFaults, hasFaults, portionsOf, writtenIn } from '../../../infra/portal/campaigns/message.ts';
import type { People } from '../../../infra/portal/campaigns/people.ts';

const NOW = Date.UTC(2026, 10, 27, 9);

const draftOf = (changes: Partial<Draft>): Draft => ({ ...emptyDraft(), text: 'Molo', name: 'Clinic day', ...changes });

const peopleOf = (count: number, value = (place: number) => `Person ${place}`): People => ({
  people: Array.from({ length: count }, (_, place) => ({
    ...{ phone: String(27_820_000_000 + place), line: place + 2 },
    values: [value(place)],
  })),
  ...{ repeated: [], invalid: [], columns: ['name'] },
});

const portions = (draft: Draft, people: People) => portionsOf(draft, writtenIn(draft, people.columns), people.people);

const faults = (draft: Draft, people = peopleOf(2)) => findFaults(draft, writtenIn(draft, people.columns), people, NOW);

describe('the requests of a campaign', () => {
  test('are one request if all people get the same', () => {
    const [request, ...others] = portions(draftOf({ replies: ['Yes', ' '] }), peopleOf(10_000));
    expect(others).toEqual([]);
    expect(request).toMatchObject({ endpoint: 'sendMessage', people: 10_000 });
    expect(request?.body).toMatchObject({ type: 'text', text: { body: 'Molo' }, quick_replies: ['Yes'] });
  });

  test('have at most 1,000 messages each, if people get different ones', () => {
    const found = portions(draftOf({ text: 'Molo {name}' }), peopleOf(2_001));
    expect(found.map(({ endpoint, people }) => [endpoint, people])).toEqual([
      ['sendMessages', 1_000],
      ['sendMessages', 1_000],
      ['sendMessages', 1],
    ]);
    expect(found[2]?.body).toEqual([{ to: '27820002000', type: 'text', text: { body: 'Molo Person 2000' } }]);
  });

  test('are small enough for the service, also with long messages of signs that need several bytes', () => {
    const found = portions(
      draftOf({ text: '{name}' }),
      peopleOf(1_000, () => '"€'.repeat(2_000)),
    );
    expect(found.length).toBeGreaterThan(1);
    expect(found.reduce((sum, { people }) => sum + people, 0)).toBe(1_000);
    for (const { body } of found) expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThan(4_000_000);
  });

  test('differ if only a quick reply does', () => {
    const [request] = portions(draftOf({ replies: ['I am {name}'] }), peopleOf(1));
    expect(request?.body).toEqual([
      { to: '27820000000', type: 'text', text: { body: 'Molo' }, quick_replies: ['I am Person 0'] },
    ]);
  });

  test.each([
    ['image', { image: { url: 'https://x', caption: 'Molo' } }],
    ['video', { video: { url: 'https://x', caption: 'Molo' } }],
    ['file', { file: { url: 'https://x', caption: 'Molo' } }],
    ['audio', { audio: { url: 'https://x' } }],
  ] as const)('have the file of the type %s', (type, content) => {
    const attachment = { type, name: 'x', url: 'https://x', preview: 'blob:x' };
    expect(portions(draftOf({ attachment }), peopleOf(1))[0]?.body).toEqual({ to: ['27820000000'], type, ...content });
    const silent = portions(draftOf({ attachment, text: ' ' }), peopleOf(1))[0]?.body;
    expect(silent).toEqual({ to: ['27820000000'], type, [type]: { url: 'https://x' } });
  });

  test('have the time and the hours that were chosen', () => {
    const at = '2026-11-28T09:00';
    const later = draftOf({ isLater: true, at, hours: 'own', open: '08:00', close: '17:30', zone: 'Africa/Accra' });
    expect(portions(later, peopleOf(1))[0]?.body).toMatchObject({
      ...{ send_at: new Date(at).toISOString(), between: ['08:00', '17:30'], time_zone: 'Africa/Accra' },
    });
    expect(portions(draftOf({ hours: 'any' }), peopleOf(1))[0]?.body).toMatchObject({ urgent: true });
    expect(Object.keys(portions(draftOf({ at }), peopleOf(1))[0]?.body ?? {})).toEqual(['to', 'type', 'text']);
  });
});

describe('a draft', () => {
  const localAhead = (ms: number): string => {
    const at = new Date(NOW + ms);
    return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
  };

  test('that is complete has no faults', () => {
    expect(hasFaults(faults(draftOf({})))).toBe(false);
    expect(hasFaults(faults(draftOf({ isLater: true, at: localAhead(3_600_000) })))).toBe(false);
    expect(hasFaults(faults(draftOf({ text: '{name}' }), peopleOf(2)))).toBe(false);
  });

  test('may leave gaps in messages, but no message may be empty', () => {
    const people = peopleOf(2, (place) => (place === 0 ? '' : 'x'));
    const gap = faults(draftOf({ text: 'Molo {name}' }), people);
    expect(gap.people.empty).toEqual([{ column: 'name', people: [people.people[0]] }]);
    expect(hasFaults(gap)).toBe(false);
    expect(hasFaults(faults(draftOf({ text: '{name}' }), people))).toBe(true);
    expect(hasFaults(faults(draftOf({ replies: ['{name}'] }), people))).toBe(true);
  });

  test.each([
    ['nobody gets it', draftOf({}), peopleOf(0), { who: 'none' }],
    ['too many get it', draftOf({}), peopleOf(10_001), { who: 'many' }],
    ['it says nothing', draftOf({ text: ' ' }), undefined, { text: 'blank' }],
    ['a placeholder is of no column', draftOf({ text: '{town}' }), undefined, { text: 'unknown', unknown: ['town'] }],
    ['it is too long', draftOf({ text: 'x'.repeat(4_097) }), undefined, { text: 'long' }],
    ['a quick reply is empty', draftOf({ replies: [''] }), undefined, { replies: ['blank'] }],
    ['a quick reply is too long', draftOf({ replies: ['x'.repeat(410)] }), undefined, { replies: ['long'] }],
    ['a quick reply names no column', draftOf({ replies: ['{x}'] }), undefined, { replies: ['unknown'] }],
    ['it has no time', draftOf({ isLater: true }), undefined, { when: 'none' }],
    ['it is too soon', draftOf({ isLater: true, at: localAhead(60_000) }), undefined, { when: 'soon' }],
    ['it is too far ahead', draftOf({ isLater: true, at: localAhead(36 * 86_400_000) }), undefined, { when: 'far' }],
    ['its hours are none', draftOf({ hours: 'own', close: '08:00' }), undefined, { hours: 'same' }],
    ['it has no name', draftOf({ name: ' ' }), undefined, { name: 'none' }],
    ['its name is too long', draftOf({ name: 'x'.repeat(65) }), undefined, { name: 'long' }],
  ])('cannot be sent if %s', (_, draft, people, fault) => {
    const found = faults(draft, people);
    expect(found).toMatchObject(fault);
    expect(hasFaults(found)).toBe(true);
  });

  test('with a picture needs no text, and may have a shorter one', () => {
    const attachment = { type: 'image', name: 'x', url: 'https://x', preview: 'blob:x' } as const;
    expect(hasFaults(faults(draftOf({ attachment, text: '' })))).toBe(false);
    expect(faults(draftOf({ attachment, text: 'x'.repeat(1_025) })).text).toBe('long');
  });
});
