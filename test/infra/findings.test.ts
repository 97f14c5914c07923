/**
 * @module-tag long
 *
 * Findings of the validation of a synthesised stack, and the errors of a synthesis.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { copySources, type SourceCopy } from '../support/source-copy.ts';

/** Synthesises with all validation, like `cdk synth -c stage=production`. */
const synthesise = ({ folder }: SourceCopy, context: Record<string, unknown> = { stage: 'production' }) =>
  spawnSync(process.execPath, ['infra/app.ts'], {
    cwd: folder,
    env: {
      ...process.env,
      CDK_OUTDIR: join(folder, 'cdk.out'),
      CDK_VALIDATION: '',
      CDK_CONTEXT_JSON: JSON.stringify(context),
    },
    encoding: 'utf8',
    timeout: 100_000,
    killSignal: 'SIGKILL',
  });

const sources = async (): Promise<SourceCopy> => {
  const copy = await copySources();
  onTestFinished(() => copy.remove());
  return copy;
};

test('the synthesised stack has no findings of AwsSolutions or CloudFormation', async () => {
  const copy = await sources();
  // With the resources and properties that only settings create.
  await copy.change('infra/stages/production.json', () =>
    JSON.stringify({
      alarmEmail: 'operators@example.com',
      monthlyBudget: 100,
      baseDomain: 'api.example.com',
      baseCertificate: 'arn:aws:acm:eu-west-1:111122223333:certificate/a',
      bridgeDomain: 'bridge.example.com',
      bridgeCertificate: 'arn:aws:acm:eu-west-1:111122223333:certificate/b',
      moreProperties: { loyalty_tier: 'automatic' },
      fetchConcurrency: 200,
      deliverConcurrency: 50,
      warmWriteUnits: 20_000,
      tags: { 'cost-center': '42' },
    }),
  );
  const { status, stderr } = synthesise(copy);
  expect(stderr).not.toMatch(/AwsSolutions|error|warning/i);
  expect(status).toBe(0);
});

test('a finding makes the synthesis fail', async () => {
  const copy = await sources();
  await copy.change('infra/constructs/function/service-function.ts', (source) =>
    source.replace('NODEJS_24_X', 'NODEJS_18_X'),
  );
  const { status, stderr } = synthesise(copy);
  expect(stderr).toContain('AwsSolutions-L1');
  expect(status).not.toBe(0);
});

test('cdk destroy of a stage that removes its data says what to do if the bucket is not empty', async () => {
  // As the CDK's command, which bundles nothing then.
  const { status, stderr } = synthesise(await sources(), { stage: 'staging', 'aws:cdk:bundling-stacks': [] });
  expect(stderr).toMatch(
    /^If .+ the bucket is not empty, run "npm run operator -- doctor --stack business-api-staging": .+\n$/,
  );
  expect(status).toBe(0);
});

test('without a stage, the synthesis ends with one line', async () => {
  const { status, stderr } = synthesise(await sources(), {});
  expect(stderr).toBe('Choose a stage: -c stage=NAME. Stages: production, staging. Each is a file in infra/stages.\n');
  expect(status).toBe(1);
});
