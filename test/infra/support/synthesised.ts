/** The synthesised stack, for tests of its template. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { afterAll } from 'vitest';
import { type Bundling, bundleFunctions } from '../../../infra/bundle/bundle.ts';
import { featureFlags } from '../../../infra/feature-flags.ts';
import { readSettings } from '../../../infra/settings.ts';
import { BusinessApiStack } from '../../../infra/stack.ts';

/**
 * Bundles the functions until the end of a test file. Returns the folders of the bundles by name, and a function that
 * synthesises templates.
 */
export const useStack = async (bundling: Bundling) => {
  const folder = await mkdtemp(join(tmpdir(), 'business-api-'));
  afterAll(() => rm(folder, { recursive: true }));
  const bundles = await bundleFunctions(folder, bundling);
  const synthesise = (context: Record<string, unknown> = {}): Template => {
    const app = new App({ analyticsReporting: false, outdir: join(folder, 'out'), context: featureFlags });
    return Template.fromStack(new BusinessApiStack(app, 'BusinessApi', { settings: readSettings(context), bundles }));
  };
  return { bundles, synthesise };
};
