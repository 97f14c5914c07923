/** Serves the local stack once for all browser tests, like `npm start`. */
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import '../../../infra/local/runtime/use-local-runtime.ts';
import { synthesise } from '../../../infra/local/synthesise.ts';
import { localFolder, type StackFile } from '../../../infra/operator/local-stack/stack-file.ts';
import { findChromium } from './chromium.ts';

declare module 'vitest' {
  interface ProvidedContext {
    served: StackFile;
  }
}

export default async (project: TestProject) => {
  // Before the stack is built: without Chromium, all tests would fail after it.
  await findChromium();
  // After the import of the local runtime, as `npm start` does.
  const { LocalServer } = await import('../../../infra/local/serve.ts');
  await mkdir(localFolder, { recursive: true });
  const lines = createWriteStream(join(localFolder, 'browser.log'));
  const server = await LocalServer.start({
    assembly: synthesise('split'),
    ports: { base: 0, bridge: 0, phone: 0, rapidpro: 0, turn: 0 },
    dynamodbEndpoint: process.env.DYNAMODB_ENDPOINT || undefined,
    tableName: `business-api-browser-${process.pid}-${Date.now()}`,
    minute: 60_000,
    onLine: (source, line) => void lines.write(`${source} ${line}\n`),
  });
  project.provide('served', await server.open());
  return async () => {
    await server.close();
    lines.end();
  };
};
