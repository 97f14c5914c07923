/** Reads how Lambda repeats events of asynchronous invocations. A property that is not named here is rejected. */
import * as v from 'valibot';
import type { AsynchronousLimits } from './definitions.ts';
import { type Json, unknown } from './json.ts';

/** Lambda's defaults. */
const DEFAULTS = { retries: 2, oldestSeconds: 6 * 60 * 60 };

const properties = v.strictObject({
  FunctionName: v.string(),
  Qualifier: v.literal('$LATEST'),
  MaximumRetryAttempts: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(2)), DEFAULTS.retries),
  MaximumEventAgeInSeconds: v.optional(v.pipe(v.number(), v.minValue(60), v.maxValue(21_600)), DEFAULTS.oldestSeconds),
});

/** The limits by function, from the properties of `AWS::Lambda::EventInvokeConfig`, in which references are resolved. */
export const readInvokeConfigs = (configs: (Json | undefined)[]): ((functionId: string) => AsynchronousLimits) => {
  const limits = new Map(
    configs.map((config) => {
      const { success, output } = v.safeParse(properties, config);
      if (!success) throw unknown('configuration of asynchronous invocations', config);
      const { FunctionName, MaximumRetryAttempts: retries, MaximumEventAgeInSeconds: seconds } = output;
      return [FunctionName, { retries, oldest: seconds * 1000 }] as const;
    }),
  );
  const byDefault = { retries: DEFAULTS.retries, oldest: DEFAULTS.oldestSeconds * 1000 };
  return (functionId) => limits.get(functionId) ?? byDefault;
};
