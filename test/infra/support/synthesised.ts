/** The stack as it is synthesised, for tests of its template. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { afterAll } from 'vitest';
import { type Bundling, bundleFunctions } from '../../../infra/bundle/bundle.ts';
import { readSettings } from '../../../infra/settings.ts';
import { BusinessApiStack } from '../../../infra/stack.ts';

/** Bundles the functions, for as long as the tests of a file last. Answers their folders by name, and what makes templates with them. */
export const useStack = async (bundling: Bundling) => {
  const folder = await mkdtemp(join(tmpdir(), 'business-api-'));
  afterAll(() => rm(folder, { recursive: true }));
  const bundles = await bundleFunctions(folder, bundling);
  const synthesise = (context: Record<string, unknown> = {}): Template => {
    const app = new App({ analyticsReporting: false, outdir: join(folder, 'out') });
    return Template.fromStack(
      new BusinessApiStack(app, 'BusinessApi', { settings: readSettings((name) => context[name]), bundles }),
    );
  };
  return { bundles, synthesise };
};
