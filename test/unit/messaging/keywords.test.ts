import { expect, test } from 'vitest';
import { keywordIn } from '../../../shared/messaging/opt-outs/keywords.ts';

const inText = (body: string) => keywordIn({ type: 'text', text: { body } });

test.each([
  ...[
    'STOP',
    'stop',
    ' Stop! ',
    '«stop»',
    'ＳＴＯＰ',
    'Stop all',
    'STOPALL',
    'Unsubscribe.',
    'opt-out',
    'Opt out',
    'OPTOUT',
  ],
  ...['ARRÊT', 'arret', 'arre\u0302t', 'Désabonner', 'BAJA', 'parar', 'STOP 🛑'],
])('%j stops a business', (text) => expect(inText(text)).toBe('stopped'));

test.each(['START', 'start.', 'Unstop'])('%j starts a business again', (text) => expect(inText(text)).toBe('started'));

test.each([
  ...['', '!', 'Please stop', 'stop it', 'nonstop', 'stop start', 'Stopp', 'end', 'cancel', 'quit', 'no'],
  ...['constructor', '__proto__', `${' '.repeat(40)}stop`],
])('%j is no keyword', (text) => expect(inText(text)).toBeUndefined());

test('a picture is no keyword', () =>
  expect(keywordIn({ type: 'image', image: { url: 'https://example.com/stop' } })).toBeUndefined());
