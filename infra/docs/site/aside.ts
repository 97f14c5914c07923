/** Builds the site in a thread of its own, with the API description of this version. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { File, Service } from './site.ts';

/**
 * All files of the site, by their names.
 *
 * @param moreProperties - the properties of the deployment, as JSON; default: those of this process
 */
export const buildAside = async (service: Service, moreProperties?: string): Promise<Map<string, File>> => {
  const worker = new Worker(new URL('worker.ts', import.meta.url), {
    workerData: service,
    // The catalogue of properties reads it when it is loaded.
    env: { ...process.env, ...(moreProperties !== undefined && { MORE_PROPERTIES: moreProperties }) },
  });
  const [site] = await once(worker, 'message');
  return site;
};
