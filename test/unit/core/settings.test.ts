/** Settings that functions read from environment variables. */
import { afterEach, expect, test, vi } from 'vitest';
import { metricsNamespace, requestRetention, tableName } from '../../../shared/core/settings.ts';

afterEach(() => void vi.unstubAllEnvs());

test('a setting is read from its environment variable at each call', () => {
  vi.stubEnv('TABLE_NAME', 'table');
  vi.stubEnv('REQUEST_RETENTION', '30');
  expect([tableName(), requestRetention()]).toEqual(['table', 30]);
});

test.each([undefined, ''])('if a setting is %j, the error names its variable', (value) => {
  vi.stubEnv('TABLE_NAME', value);
  expect(tableName).toThrow('The environment lacks TABLE_NAME.');
});

test('the metrics namespace defaults to BusinessApi', () => {
  vi.stubEnv('METRICS_NAMESPACE', undefined);
  expect(metricsNamespace()).toBe('BusinessApi');
  vi.stubEnv('METRICS_NAMESPACE', 'BusinessApi/test');
  expect(metricsNamespace()).toBe('BusinessApi/test');
});
