/** The table of the most units of each request, in the guide on performance. */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { withTable } from '../../../../infra/docs/table.ts';
import { api, type EndpointName } from '../../../../shared/api/index.ts';
import { scenarios } from '../../scenarios/all.ts';

const GUIDE = resolve('infra/docs/performance.md');

test('the guide has the maximum of each endpoint (to fix: npm run guides)', async () => {
  const guide = await readFile(GUIDE, 'utf8');
  await expect(withTable(guide, rows(), '## Maximum units')).toMatchFileSnapshot(GUIDE);
});

const rows = (): string[][] => [
  ['request', 'reads', 'writes', 'the most expensive one'],
  ...(Object.keys(api) as EndpointName[]).flatMap((name) => {
    const { read, write, of, later } = scenarios[name].max;
    const [{ method, path }] = api[name].routes;
    const row = [`\`${method} ${path}\``, shown(read), shown(write), of];
    return later ? [row, ['- later', shown(later.read), shown(later.write), later.of]] : [row];
  }),
];

/** A number of units, with commas; a large one without its half. */
const shown = (units: number): string => (units < 10 ? units : Math.ceil(units)).toLocaleString('en');
