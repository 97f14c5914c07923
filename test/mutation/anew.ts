/**
 * Runs before each test file, because a process runs many: resets modules and environment variables, so that each file
 * starts as in a new process.
 */
import { vi } from 'vitest';

const kept = globalThis as { firstEnvironment?: NodeJS.ProcessEnv };
const { env } = process;

vi.resetModules();
kept.firstEnvironment ??= { ...env };
for (const name of Object.keys(env)) if (!(name in kept.firstEnvironment)) delete env[name];
Object.assign(env, kept.firstEnvironment);
