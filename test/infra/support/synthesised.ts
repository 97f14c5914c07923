/** The synthesised stack, for tests of its template. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Template } from 'aws-cdk-lib/assertions';
import { App } from 'aws-cdk-lib/core';
import { afterAll, vi } from 'vitest';
import { type Bundling, bundleFunctions } from '../../../infra/bundle/bundle.ts';
import { featureFlags } from '../../../infra/feature-flags.ts';
import { readSettings } from '../../../infra/settings.ts';
import { BusinessApiStack } from '../../../infra/stack.ts';

/**
 * Bundles the functions until the end of a test file. Returns the folders of the bundles by name, a function that
 * creates stacks, and one that synthesises templates: both once for the same settings, because each takes most of a
 * second. The CDK does not validate the templates, which takes ten seconds: `test/infra/findings.test.ts` does.
 */
export const useStack = async (bundling: Bundling) => {
  vi.stubEnv('CDK_VALIDATION', 'false');
  const folder = await mkdtemp(join(tmpdir(), 'business-api-'));
  afterAll(() => rm(folder, { recursive: true }));
  const bundles = await bundleFunctions(folder, bundling);
  const stacks = new Map<string, BusinessApiStack>();
  const build = (settings: Record<string, unknown> = {}): BusinessApiStack => {
    const name = JSON.stringify(settings);
    const known = stacks.get(name);
    if (known !== undefined) return known;
    const app = new App({
      analyticsReporting: false,
      treeMetadata: false,
      outdir: join(folder, 'out'),
      context: featureFlags,
    });
    const stack = new BusinessApiStack(app, 'BusinessApi', { settings: readSettings(settings), bundles });
    stacks.set(name, stack);
    return stack;
  };
  const templates = new Map<BusinessApiStack, Template>();
  const synthesise = (settings: Record<string, unknown> = {}): Template => {
    const stack = build(settings);
    const template = templates.get(stack) ?? Template.fromStack(stack);
    templates.set(stack, template);
    return template;
  };
  return { bundles, build, synthesise };
};
