/** The CDK's feature flags of the app: those that the CDK recommends for a new project, with two exceptions. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { featureFlags } from '../../infra/feature-flags.ts';
import { synthesise } from '../../infra/local/synthesise.ts';

const flag = v.object({
  recommendedValue: v.unknown(),
  userValue: v.optional(v.unknown()),
  unconfiguredBehavesLike: v.optional(v.object({ v2: v.optional(v.unknown()) })),
});

const report = v.object({
  artifacts: v.object({
    'aws-cdk-lib/feature-flag-report': v.object({ properties: v.object({ flags: v.record(v.string(), flag) }) }),
  }),
});

const manifest = v.parse(report, JSON.parse(await readFile(join(await synthesise('split'), 'manifest.json'), 'utf8')));

/** Every flag that the installed aws-cdk-lib knows, as the synthesised app has it. */
const { flags } = manifest.artifacts['aws-cdk-lib/feature-flag-report'].properties;

test('the app has the recommended value of every flag, except of the two that it declines', () => {
  const others = Object.entries(flags)
    .filter(([, { recommendedValue, userValue, unconfiguredBehavesLike }]) => {
      const value = userValue ?? unconfiguredBehavesLike?.v2 ?? false;
      return !isDeepStrictEqual(value, recommendedValue);
    })
    .map(([name]) => name);
  expect(
    others.sort(),
    'Decide on each flag of the new aws-cdk-lib in infra/feature-flags.ts: set it, or decline it with a reason. If the stack is deployed, run "npx cdk diff" first.',
  ).toEqual(['@aws-cdk/aws-iam:minimizePolicies', '@aws-cdk/core:enableAdditionalMetadataCollection']);
});

test('the app sets no flag that aws-cdk-lib does not know', () => {
  expect(Object.keys(featureFlags).filter((name) => !(name in flags))).toEqual([]);
  expect(Object.keys(flags).length).toBeGreaterThan(Object.keys(featureFlags).length);
});
