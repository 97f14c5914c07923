/** The files of the portal. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { writePortal } from '../../infra/bundle/portal.ts';

test('the portal offers the properties of the deployment besides those of the service, and links to its documentation', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'portal-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writePortal(folder, { moreProperties: { shoe_size: 'approval' } });
  const names = (await readdir(folder)).filter((name) => name.startsWith('view-'));
  const views = await Promise.all(names.map(async (name) => gunzipSync(await readFile(join(folder, name))).toString()));
  const catalogues = views.filter((view) => view.includes('device_tac') && view.includes('shoe_size'));
  expect(catalogues).toHaveLength(1);
  expect(views.filter((view) => view.includes('href:"/docs"'))).toHaveLength(1);
});
