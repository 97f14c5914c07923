/** Log lines with metrics, checked against the schema of CloudWatch's embedded metric format. */
import { Ajv } from 'ajv';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { type EventFields, type EventName, events, measure } from '../../../shared/telemetry/metrics.ts';
import { traced } from '../../../shared/telemetry/trace.ts';
import { captureLog } from '../../support/captured-log.ts';

const written = captureLog();

afterEach(() => void vi.unstubAllEnvs());

/** The schema of `_aws` (CloudWatch user guide, "Specification: embedded metric format"). */
const metadata = {
  type: 'object',
  required: ['Timestamp', 'CloudWatchMetrics'],
  properties: {
    Timestamp: { type: 'integer', minimum: 1_600_000_000_000 },
    CloudWatchMetrics: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['Namespace', 'Dimensions', 'Metrics'],
        properties: {
          Namespace: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[^:]+$' },
          Dimensions: {
            type: 'array',
            minItems: 1,
            items: { type: 'array', maxItems: 30, items: { type: 'string', minLength: 1, maxLength: 250 } },
          },
          Metrics: {
            type: 'array',
            minItems: 1,
            maxItems: 100,
            items: {
              type: 'object',
              required: ['Name'],
              properties: {
                Name: { type: 'string', minLength: 1, maxLength: 1_024 },
                Unit: { enum: ['Count', 'Milliseconds', 'Seconds'] },
              },
            },
          },
        },
      },
    },
  },
};

const names = Object.keys(events) as EventName[];

test.each(names)(
  'the line "%s" is valid for CloudWatch: each metric is a number and each dimension a text in it',
  (name) => {
    const { by, metrics } = events[name];
    const numbers = Object.fromEntries(Object.keys(metrics).map((metric) => [metric, 1]));
    const dimensions = Object.fromEntries(by.map((dimension) => [dimension, 'some']));
    const fields = { ...numbers, ...dimensions, account: 'acme' } as unknown as EventFields<typeof name>;
    vi.stubEnv('METRICS_NAMESPACE', 'BusinessApi/test');
    traced('trace-1', () => measure('info', name, fields));

    const { _aws, ...line } = JSON.parse(written.find((text) => JSON.parse(text).message === name) ?? '');
    const validate = new Ajv().compile(metadata);
    expect(validate(_aws), JSON.stringify(validate.errors)).toBe(true);
    expect(_aws.CloudWatchMetrics).toMatchObject([
      { Namespace: 'BusinessApi/test', Dimensions: by.length === 0 ? [[]] : [[], by] },
    ]);
    expect(line).toEqual({
      level: 'info',
      message: name,
      ...numbers,
      ...dimensions,
      account: 'acme',
      trace_id: 'trace-1',
    });
  },
);

describe('with LOG_SAMPLING', () => {
  const MESSAGES = Array.from({ length: 2_000 }, (_, index) => `message ${index}`);

  const lines = (name: EventName) => written.map((text) => JSON.parse(text)).filter(({ message }) => message === name);

  const deliver = () => {
    for (const message_id of MESSAGES) {
      measure('info', 'accepted', { type: 'message.send', message_id, accepted: 1 });
      measure('info', 'delivered', { type: 'message.send', message_id, delivered: 1, delivery_ms: 20 });
      measure('info', 'state', { state: 'read', message_id, states: 1 });
    }
  };

  test.each(['2', '10'])('%s, one message in so many has its lines, and they count for all', (sampling) => {
    vi.stubEnv('LOG_SAMPLING', sampling);
    deliver();
    const accepted = lines('accepted');
    expect(accepted.length / (MESSAGES.length / Number(sampling))).toBeCloseTo(1, 0);
    // The lines of a message are all written, or none.
    expect(lines('delivered').map(({ message_id }) => message_id)).toEqual(
      accepted.map(({ message_id }) => message_id),
    );
    for (const line of accepted) expect(line.accepted).toBe(Number(sampling));
    expect(lines('state').map(({ states }) => states)).toEqual(accepted.map(() => Number(sampling)));
    // Times are not sums.
    for (const line of lines('delivered')) {
      expect(line).toMatchObject({ delivered: Number(sampling), delivery_ms: 20 });
    }
  });

  test.each([undefined, '1'])('%s, all messages have their lines', (sampling) => {
    vi.stubEnv('LOG_SAMPLING', sampling);
    deliver();
    expect(lines('accepted')).toHaveLength(MESSAGES.length);
    expect(lines('delivered')[0]).toMatchObject({ delivered: 1 });
  });

  test('failures, requests, and what is about no message always have their lines, and count once', () => {
    vi.stubEnv('LOG_SAMPLING', '10');
    for (const message_id of MESSAGES.slice(0, 50)) {
      measure('error', 'permanently failed', {
        type: 'message.send',
        reason: 'refused',
        message_id,
        permanently_failed: 1,
      });
      measure('warn', 'state', { message_id, state: 'delivery_failed', states: 1 });
      measure('info', 'request', { outcome: 'succeeded', requests: 1, request_ms: 3 });
      measure('info', 'accepted', { type: 'account.updated', accepted: 1 });
    }
    for (const [name, count] of [
      ['permanently failed', 'permanently_failed'],
      ['state', 'states'],
      ['request', 'requests'],
      ['accepted', 'accepted'],
    ] as const) {
      expect(
        lines(name).map((line) => line[count]),
        name,
      ).toEqual(Array(50).fill(1));
    }
  });
});

test('no two events share a metric, so that each metric has one meaning', () => {
  const metrics = names.flatMap((name) => Object.keys(events[name].metrics));
  expect(new Set(metrics).size).toBe(metrics.length);
});
