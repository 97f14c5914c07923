/** Log lines with metrics, checked against the schema of CloudWatch's embedded metric format. */
import { Ajv } from 'ajv';
import { afterEach, expect, test, vi } from 'vitest';
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

test('no two events share a metric, so that each metric has one meaning', () => {
  const metrics = names.flatMap((name) => Object.keys(events[name].metrics));
  expect(new Set(metrics).size).toBe(metrics.length);
});
