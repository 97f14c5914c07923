/** What functions find in their environment. */
import { afterEach, expect, test, vi } from 'vitest';
import { metricsNamespace, requestRetention, tableName } from '../../../shared/core/settings.ts';

afterEach(() => void vi.unstubAllEnvs());

test('a setting is read when it is asked for', () => {
  vi.stubEnv('TABLE_NAME', 'table');
  vi.stubEnv('REQUEST_RETENTION', '30');
  expect([tableName(), requestRetention()]).toEqual(['table', 30]);
});

test.each([undefined, ''])('a setting that is %j is named in the error', (value) => {
  vi.stubEnv('TABLE_NAME', value);
  expect(tableName).toThrow('The environment lacks TABLE_NAME.');
});

test('metrics have a name of their own where none is set', () => {
  vi.stubEnv('METRICS_NAMESPACE', undefined);
  expect(metricsNamespace()).toBe('BusinessApi');
  vi.stubEnv('METRICS_NAMESPACE', 'BusinessApi/test');
  expect(metricsNamespace()).toBe('BusinessApi/test');
});
