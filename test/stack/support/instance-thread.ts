/** The thread of `startInstance`: accepts messages one after the other. */
import { parentPort, workerData } from 'node:worker_threads';
import { HASH_SECRET } from '../../../infra/operator/local-stack/hash-secret.ts';
import { setHashSecret } from '../../../shared/core/keyed-hashes.ts';
import { sendMessage } from '../../../shared/messaging/send.ts';

setHashSecret(HASH_SECRET);

const now = Date.now;
Date.now = () => now() + workerData.ahead;

parentPort?.on('message', async ([account, to, body]: [string, string, string]) => {
  parentPort?.postMessage(await sendMessage(account, { to, type: 'text', text: { body } }, {}));
});
parentPort?.postMessage('ready');
