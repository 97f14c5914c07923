/** Builds the documentation for the function that serves it: compressed files, with example hosts. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { exampleHosts } from '../../shared/api/openapi/example-hosts.ts';
import { buildAside } from '../docs/site/aside.ts';

/**
 * Writes the documentation into the folder of its function's bundle. Takes about two seconds.
 *
 * @param moreProperties - those of the deployment
 */
export const writeDocumentation = async (bundle: string, moreProperties: Record<string, string>): Promise<void> => {
  const { base, bridge } = exampleHosts;
  const site = await buildAside({ base_url: base, bridge_url: bridge }, JSON.stringify(moreProperties));
  const folder = join(bundle, 'docs');
  await mkdir(folder, { recursive: true });
  for (const [name, { body }] of site) await writeFile(join(folder, name), gzipSync(body, { level: 9 }));
};
