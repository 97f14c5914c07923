/**
 * `npm run docs [FOLDER]`: writes the documentation as a static site that an operator can host. Default folder:
 * `.local/docs`. `BASE_URL` and `BRIDGE_URL` are the hosts in its examples.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { apiDescription } from '../../../shared/api/openapi/description.ts';
import { exampleHosts } from '../../../shared/api/openapi/example-hosts.ts';
import { withCodeSamples } from '../../openapi/samples/code-samples.ts';
import { buildSite } from './site.ts';

const [folder = '.local/docs'] = process.argv.slice(2);

const { BASE_URL: base = exampleHosts.base, BRIDGE_URL: bridge = exampleHosts.bridge } = process.env;

const description = withCodeSamples(apiDescription({ base, bridge }), { base, bridge });
const site = await buildSite({ base_url: base, bridge_url: bridge }, description);
await mkdir(folder, { recursive: true });
for (const [path, { body }] of site) await writeFile(join(folder, path), body);

process.stdout.write(`${site.size} files in ${resolve(folder)}: open index.html through a web server.\n`);
