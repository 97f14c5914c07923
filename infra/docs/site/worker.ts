/** Builds the site in a thread of its own. Its data are the service, and its message is the site. */
import { parentPort, workerData } from 'node:worker_threads';
import { apiDescription } from '../../../shared/api/openapi/description.ts';
import { withCodeSamples } from '../../openapi/samples/code-samples.ts';
import { buildSite, type Service } from './site.ts';

const service: Service = workerData;
const hosts = { base: service.base_url, bridge: service.bridge_url };
parentPort?.postMessage(await buildSite(service, withCodeSamples(apiDescription(hosts), hosts)));
