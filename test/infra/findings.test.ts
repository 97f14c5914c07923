import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Stack, Validations } from 'aws-cdk-lib';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { AwsSolutionsChecks } from 'cdk-nag';
import { expect, test } from 'vitest';

test('the synthesised stack has no findings of AwsSolutions or of CloudFormation', () => {
  const out = mkdtempSync(join(tmpdir(), 'business-api-'));
  const { status, stderr } = spawnSync(process.execPath, ['infra/app.ts'], {
    env: { ...process.env, CDK_OUTDIR: out },
    encoding: 'utf8',
  });
  rmSync(out, { recursive: true });
  expect(stderr).not.toMatch(/AwsSolutions|error|warning/i);
  expect(status).toBe(0);
});

test('a finding would stop the synthesis', () => {
  const app = new App({ analyticsReporting: false });
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  new Bucket(new Stack(app, 'Open'), 'Bucket');
  expect(() => app.synth()).toThrow();
});
