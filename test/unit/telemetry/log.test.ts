/** Log lines, and the parts of errors in them. */
import { globSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { problemCatalogue } from '../../../shared/core/problems.ts';
import { describeError, log } from '../../../shared/telemetry/log.ts';
import { events } from '../../../shared/telemetry/metrics.ts';
import { traced, traceId } from '../../../shared/telemetry/trace.ts';
import { captureLog } from '../../support/captured-log.ts';

const written = captureLog();

test('a log line is one JSON object with its trace id', () => {
  traced('trace-1', () => log('warn', 'slow', { account: 'acme', count: 3, of: undefined }));
  log('info', 'done', { trace_id: 'trace-2' });
  expect(written).toEqual([
    '{"level":"warn","message":"slow","account":"acme","count":3,"trace_id":"trace-1"}\n',
    '{"level":"info","message":"done","trace_id":"trace-2"}\n',
  ]);
});

test('a log line without fields is a JSON object, too', () => {
  log('info', 'done', {});
  expect(written).toEqual(['{"level":"info","message":"done"}\n']);
});

test('no message contains a character that JSON escapes, because messages are written as they are', () => {
  const sources = globSync('{shared,functions}/**/*.ts').map((file) => readFileSync(file, 'utf8'));
  const calls = sources.flatMap((source) => [...source.matchAll(/\blog\(\s*'\w+',\s*(['"`])(.*?)\1,/g)]);
  const messages = [
    ...calls.map(([, , message = '']) => message),
    ...Object.keys(events),
    ...Object.keys(problemCatalogue),
  ];
  expect(calls.length).toBeGreaterThan(15);
  expect(messages.filter((message) => JSON.stringify(message) !== `"${message}"`)).toEqual([]);
});

test('nested work without a trace id keeps the current one', () => {
  expect(traceId()).toBeUndefined();
  expect(traced('trace-1', () => traced(undefined, traceId))).toBe('trace-1');
  expect(traced('trace-1', () => traced('trace-2', traceId))).toBe('trace-2');
});

describe('a log line describes an error', () => {
  test('by its name and at most eight places of its stack, and never by its message', () => {
    const error = new TypeError('27821234567 is no user');
    const places = Array.from({ length: 9 }, (_, index) => `at place${index} (file.ts:${index}:1)`);
    error.stack = `TypeError: 27821234567 is no user\nwho is called 27821234567\n    ${places.join('\n    ')}`;
    expect(describeError(error)).toEqual({ error: 'TypeError', at: places.slice(0, 8).join(' < ') });
  });

  test.each([[undefined], ['']])('by its name alone if it has no stack: %j', (stack) => {
    const error = new RangeError('27821234567 is too much');
    error.stack = stack as string;
    expect(describeError(error)).toEqual({ error: 'RangeError', at: '' });
  });

  test.each([
    ['27821234567', 'string'],
    [undefined, 'undefined'],
    [null, 'object'],
    [{ message: '27821234567' }, 'object'],
  ])('by its type if it is not an Error: %j', (thrown, error) => {
    expect(describeError(thrown)).toEqual({ error });
  });
});
