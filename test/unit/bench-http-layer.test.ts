/** The benchmark of the HTTP layer. */
import { afterEach, expect, test, vi } from 'vitest';
import { handler as bare } from '../bench/http-layer/bare.ts';
import { type Case, cases } from '../bench/http-layer/cases.ts';
import { checkEqual } from '../bench/http-layer/equality.ts';
import { handler as hono } from '../bench/http-layer/hono.ts';
import { handler as ours } from '../bench/http-layer/ours.ts';
import { handler as powertools } from '../bench/http-layer/powertools.ts';

afterEach(() => void vi.unstubAllEnvs());

test.each(Object.entries<Case>(cases))('all contestants do the same work for %s', async (_title, one) => {
  vi.stubEnv('BASE_URL', 'https://api.example.com');
  await expect(checkEqual({ bare, ours, hono, powertools }, one)).resolves.toBeUndefined();
});
