/** Which modules of the service make hashes: a hash of personal data without a key is found in seconds. */
import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

test('only two modules make hashes without a key: of what is no personal data, and of cursors, which are stored nowhere', () => {
  const makers = globSync('{shared,functions}/**/*.ts').filter((file) =>
    /\bcreateHash\b|\bhash\(|subtle/.test(readFileSync(file, 'utf8')),
  );
  expect(makers.sort()).toEqual(['shared/core/keyed-hashes.ts', 'shared/http/cursor.ts']);
});

test('only tokens, files, profilers, ids, and numbers as clients hash them, are hashed without a key', () => {
  const uses = globSync('{shared,functions}/**/*.ts').flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/\bunkeyedHash\(/g)].map(() => file),
  );
  // The last two: what a deletion marker is about, and a number for the comparison with what a client sends.
  expect(uses.sort()).toEqual([
    'shared/accounts/tokens.ts',
    'shared/mcp/message.ts',
    'shared/media/uploads.ts',
    'shared/profilers/profilers.ts',
    'shared/profilers/profilers.ts',
    'shared/table/keys.ts',
    'shared/telemetry/metrics.ts',
    'shared/users/entities.ts',
  ]);
});
