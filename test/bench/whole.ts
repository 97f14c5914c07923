/** The whole system for measurements: the local stack, the simulators, and the demo data. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { demoBots } from '../../infra/local/demo.ts';
import type { LocalStackOptions } from '../../infra/local/local-stack.ts';
import { synthesise } from '../../infra/local/synthesise.ts';
import { updateAccount } from '../../infra/operator/queries/accounts-admin.ts';
import { type SimulatedStack, startSimulatedStack } from '../support/simulated-stack.ts';
import { UNLIMITED } from '../support/unlimited.ts';

const TABLE = 'business-api-bench';
const MINUTE = 60_000;

/** The parts. `close` also removes temporary files. */
export type Whole = SimulatedStack;

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
  const { close, ...whole } = await startSimulatedStack({
    assembly: synthesise(folder, 'minified', undefined, { documentation: true, ...settings }).then(() => folder),
    dynamodbEndpoint,
    tableName,
    minute,
    throttles: false,
    onLine: () => undefined,
    ...more,
  });
  for (const { id } of demoBots) await updateAccount(id, UNLIMITED);
  return { ...whole, close: () => close().then(() => rm(folder, { recursive: true })) };
};
