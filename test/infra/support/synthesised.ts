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
 * Bundles the functions until the end of a test file. Returns the folders of the bundles by name, a function that
 * creates stacks, and one that synthesises templates.
 */
export const useStack = async (bundling: Bundling) => {
  const folder = await mkdtemp(join(tmpdir(), 'business-api-'));
  afterAll(() => rm(folder, { recursive: true }));
  const bundles = await bundleFunctions(folder, bundling);
  const build = (settings: Record<string, unknown> = {}): BusinessApiStack => {
    const app = new App({ analyticsReporting: false, outdir: join(folder, 'out'), context: featureFlags });
    return new BusinessApiStack(app, 'BusinessApi', { settings: readSettings(settings), bundles });
  };
  const synthesise = (settings?: Record<string, unknown>): Template => Template.fromStack(build(settings));
  return { bundles, build, synthesise };
};
