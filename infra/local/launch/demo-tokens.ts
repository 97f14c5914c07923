/**
 * `.local/demo-tokens.json`: the tokens of the demo accounts, by name. They stay the same from start to start, so that
 * scripts and browsers can keep them. Only the file's owner can read it.
 */
import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { isWellFormedToken } from '../../../shared/accounts/tokens.ts';
import { localFolder } from '../../operator/local-stack/stack-file.ts';

/** Tokens by name. `seedDemo` adds those that are missing or revoked. */
export type DemoTokens = Map<string, string>;

const content = v.record(v.string(), v.string());

const path = join(localFolder, 'demo-tokens.json');

/** The tokens of earlier starts. Malformed ones are left out, and replaced by the next start. */
export const readDemoTokens = async (): Promise<DemoTokens> => {
  try {
    const text = await readFile(path, 'utf8');
    await chmod(path, 0o600);
    const { success, output } = v.safeParse(v.pipe(v.string(), v.parseJson(), content), text);
    return new Map(Object.entries(success ? output : {}).filter(([, token]) => isWellFormedToken(token)));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return new Map();
    throw error;
  }
};

/** Writes the tokens atomically. */
export const writeDemoTokens = async (tokens: DemoTokens): Promise<void> => {
  await mkdir(localFolder, { recursive: true });
  const draft = `${path}.${process.pid}`;
  await writeFile(draft, `${JSON.stringify(Object.fromEntries(tokens), null, 2)}\n`, { mode: 0o600 });
  await rename(draft, path);
};
