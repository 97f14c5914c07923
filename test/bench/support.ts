/** What measurements of the whole need: the local stack on this machine, with all that is outside of it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callTableOf } from '../../infra/local/call-table.ts';
import { seedDemo } from '../../infra/local/demo.ts';
import { LocalStack } from '../../infra/local/local-stack.ts';
import { Outside } from '../../infra/local/simulated/outside.ts';
import { synthesise } from '../../infra/local/synthesise.ts';
import { type Figure, report } from './report.ts';

const TABLE = 'business-api-bench';
const MINUTE = 60_000;

const folder = await mkdtemp(join(tmpdir(), 'bench-'));
export const outside = await Outside.start({ ports: { phone: 0, rapidpro: 0, turn: 0 }, minute: MINUTE });
export const stack = await LocalStack.start({
  assembly: synthesise(folder, 'minified').then(() => folder),
  ports: { base: 0, bridge: 0 },
  dynamodbEndpoint: process.env.DYNAMODB_ENDPOINT || undefined,
  tableName: TABLE,
  minute: MINUTE,
  secret: outside.app.stackSecret,
  onLine: () => undefined,
});
callTableOf({ dynamodbEndpoint: stack.dynamodbEndpoint, table: TABLE });
export const demo = await seedDemo(outside);
outside.connect({ bridgeUrl: stack.bridgeUrl, appToken: demo.app_token });

/** Measures, reports what was found, and leaves nothing behind. */
export const measure = async (bench: string, work: () => Promise<Figure[]>): Promise<void> => {
  try {
    report(bench, await work());
  } finally {
    await stack.close();
    await outside.close();
    await rm(folder, { recursive: true });
  }
};
