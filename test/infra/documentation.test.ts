/**
 * The documentation that a deployment builds.
 *
 * @module-tag long
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { writeDocumentation } from '../../infra/bundle/documentation.ts';

test('the documentation that a deployment builds has the properties of the deployment besides those of the service', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'docs-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeDocumentation(folder, { shoe_size: 'approval' });
  for (const name of ['openapi.json', 'reference-start-user-data-request.html']) {
    const text = gunzipSync(await readFile(join(folder, 'docs', name))).toString();
    expect(text, name).toContain('device_tac');
    expect(text, name).toContain('shoe_size');
  }
});
