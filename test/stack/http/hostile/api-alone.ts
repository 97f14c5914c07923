/** The stack without its workers' triggers, so that only requests write to the table. */
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject, onTestFinished } from 'vitest';

/** Types of resources that invoke functions without a request. */
const TRIGGERS = ['AWS::Lambda::EventSourceMapping', 'AWS::Events::Rule'];

/** The folder of such an assembly. It is deleted at the end of the test. */
export const apiAlone = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'hostile-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await cp(inject('stack').assembly, folder, { recursive: true });
  const path = join(folder, 'BusinessApi.template.json');
  const template = JSON.parse(await readFile(path, 'utf8'));
  const kept = Object.entries<{ Type: string }>(template.Resources).filter(([, { Type }]) => !TRIGGERS.includes(Type));
  await writeFile(path, JSON.stringify({ ...template, Resources: Object.fromEntries(kept) }));
  return folder;
};
