/** Builds the site in a thread of its own. Its data are the arguments of `buildSite`, and its message is the site. */
import { parentPort, workerData } from 'node:worker_threads';
import { buildSite } from './site.ts';

const [service, description] = workerData;
parentPort?.postMessage(await buildSite(service, description));
