/**
 * The Node.js versions that packages require. npm would compare them with the wrong Node.js.
 *
 * @module-tag long
 */
import { glob, readFile } from 'node:fs/promises';
import { satisfies } from 'semver';
import { expect, test } from 'vitest';
import { withoutMisleadingEngines } from '../../infra/lock-file.ts';

test('the lock file has no engines about which npm would warn wrongly (to fix: npm run lock)', async () => {
  const text = await readFile('package-lock.json', 'utf8');
  expect(text).toBe(withoutMisleadingEngines(text));
});

test('the lock file has the database for each platform of the README, in the same version', async () => {
  const { packages } = JSON.parse(await readFile('package-lock.json', 'utf8'));
  const { optionalDependencies } = JSON.parse(await readFile('package.json', 'utf8'));
  for (const platform of ['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64', 'win32-x64']) {
    const [os, cpu] = platform.split('-');
    const version = optionalDependencies['@dynoxide/linux-x64'];
    expect(optionalDependencies).toHaveProperty(`@dynoxide/${platform}`, version);
    expect(packages[`node_modules/@dynoxide/${platform}`]).toMatchObject({
      version,
      os: [os],
      cpu: [cpu],
      optional: true,
    });
  }
});

test('every installed package supports the Node.js that runs the scripts', async () => {
  const unsupported: string[] = [];
  let packages = 0;
  for await (const path of glob('node_modules/{*,@*/*}/package.json')) {
    const { name, engines } = JSON.parse(await readFile(path, 'utf8'));
    packages += 1;
    if (engines?.node !== undefined && !satisfies(process.version, engines.node)) {
      unsupported.push(`${name} needs ${engines.node}`);
    }
  }
  expect(unsupported).toEqual([]);
  expect(packages).toBeGreaterThan(100);
});
