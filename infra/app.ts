/** The CDK app: `cdk synth`, `cdk diff` and `cdk deploy` run it. */
import { App, Validations } from 'aws-cdk-lib/core';
import { bundleFunctions } from './bundle/bundle.ts';
import { writeDocumentation } from './bundle/documentation.ts';
import { featureFlags } from './feature-flags.ts';
import type { Settings } from './settings.ts';
import { settingsFrom } from './stages.ts';

const app = new App({ analyticsReporting: false, treeMetadata: false, context: featureFlags });
const settings = settingsOf(app);

// The bundler is written in Go. Without garbage collection, it takes a fifth less time, and up to a quarter more memory.
process.env.GOGC ??= 'off';
// It runs in parallel, while the construct library loads.
const bundling = bundleFunctions(app.outdir, settings.bundling, settings.conditions, settings);
const { BusinessApiStack } = await import('./stack.ts');

// `cdk synth --no-validation` sets this, and so does the local stack, to start faster.
if (process.env.CDK_VALIDATION !== 'false') {
  const { AwsSolutionsChecks } = await import('cdk-nag');
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
}

const bundles = await bundling;
if (settings.documentation) await writeDocumentation(bundles.readDocumentation, settings.moreProperties);

const stack = new BusinessApiStack(app, 'BusinessApi', {
  stackName: `business-api-${settings.stage}`,
  description: 'Business API: research profilers, statistics, user data requests and messaging bridge',
  settings,
  bundles,
});

// `cdk destroy` bundles nothing. Few other commands do so, such as `cdk list`, and print it, too.
if (settings.removalPolicy === 'destroy' && !stack.bundlingRequired) {
  process.stderr.write(
    `If "cdk destroy" reports that the bucket is not empty, run "npm run operator -- doctor --stack ${stack.stackName}": it shows how to continue.\n`,
  );
}

app.synth();

/** The settings. If they are invalid, prints one line and ends the process. */
function settingsOf({ node }: App): Settings {
  try {
    return settingsFrom((name) => node.tryGetContext(name));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    return process.exit(1);
  }
}
