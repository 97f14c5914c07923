/** The whole system for measurements: the local stack, the simulators, and the demo data. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Demo, demoBots, seedDemo } from '../../infra/local/demo.ts';
import { LocalStack, type LocalStackOptions } from '../../infra/local/local-stack.ts';
import { Simulators } from '../../infra/local/simulators/simulators.ts';
import { synthesise } from '../../infra/local/synthesise.ts';
import { callTableOf } from '../../infra/operator/local-stack/call-table.ts';
import { updateAccount } from '../../infra/operator/queries/accounts-admin.ts';
import { UNLIMITED } from '../support/unlimited.ts';

const TABLE = 'business-api-bench';
const MINUTE = 60_000;

export interface Whole {
  stack: LocalStack;
  simulators: Simulators;
  demo: Demo;
  /** Closes the stack and the simulators, and removes temporary files. */
  close: () => Promise<void>;
}

/**
 * @param settings - settings of the stack that differ from the defaults
 * @param more - milliseconds of a minute of the service; more options of the stack
 */
export const openWhole = async (
  dynamodbEndpoint: string | undefined,
  settings: Record<string, number> = {},
  {
    minute = MINUTE,
    tableName = TABLE,
    ...more
  }: Partial<Pick<LocalStackOptions, 'minute' | 'tableName' | 'clock' | 'functions' | 'latency'>> = {},
): Promise<Whole> => {
  const folder = await mkdtemp(join(tmpdir(), 'bench-'));
  const simulators = await Simulators.start({ ports: { phone: 0, rapidpro: 0, turn: 0 }, minute });
  const stack = await LocalStack.start({
    assembly: synthesise(folder, 'minified', undefined, { documentation: true, ...settings }).then(() => folder),
    ports: { base: 0, bridge: 0 },
    dynamodbEndpoint,
    tableName,
    minute,
    throttles: false,
    secret: simulators.app.stackSecret,
    onLine: () => undefined,
    ...more,
  });
  callTableOf({ dynamodbEndpoint: stack.dynamodbEndpoint, table: tableName });
  const demo = await seedDemo(simulators);
  for (const { id } of demoBots) await updateAccount(id, UNLIMITED);
  simulators.connect({ bridgeUrl: stack.bridgeUrl, appToken: demo.app_token });
  const close = async (): Promise<void> => {
    await stack.close();
    await simulators.close();
    await rm(folder, { recursive: true });
  };
  return { stack, simulators, demo, close };
};
