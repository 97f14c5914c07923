/** The stack without what goes on behind the API: then whatever is written to the table, a request has written. */
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject, onTestFinished } from 'vitest';

/** What has functions work without a request. */
const BEHIND = ['AWS::Lambda::EventSourceMapping', 'AWS::Events::Rule'];

/** An assembly of it, until the test is over. */
export const apiAlone = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'hostile-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await cp(inject('stack').assembly, folder, { recursive: true });
  const path = join(folder, 'BusinessApi.template.json');
  const template = JSON.parse(await readFile(path, 'utf8'));
  const kept = Object.entries<{ Type: string }>(template.Resources).filter(([, { Type }]) => !BEHIND.includes(Type));
  await writeFile(path, JSON.stringify({ ...template, Resources: Object.fromEntries(kept) }));
  return folder;
};
