/**
 * Runs before each file in a process that has run others: it is to find sources that have just been loaded, as all files
 * do in processes of their own, and the environment as it was at first.
 */
import { vi } from 'vitest';

const kept = globalThis as { firstEnvironment?: NodeJS.ProcessEnv };
const { env } = process;

vi.resetModules();
kept.firstEnvironment ??= { ...env };
for (const name of Object.keys(env)) if (!(name in kept.firstEnvironment)) delete env[name];
Object.assign(env, kept.firstEnvironment);
