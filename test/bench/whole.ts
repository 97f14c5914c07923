/** The whole system for measurements: the local stack, the simulators, and the demo data. */
import { demoBots } from '../../infra/local/demo.ts';
import { type LocalStackOptions, readLocalTemplate } from '../../infra/local/local-stack.ts';
import { synthesise } from '../../infra/local/synthesise.ts';
import { updateAccount } from '../../infra/operator/queries/accounts-admin.ts';
import { type SimulatedStack, startSimulatedStack } from '../support/simulated-stack.ts';
import { UNLIMITED } from '../support/unlimited.ts';

const TABLE = 'business-api-bench';
const MINUTE = 60_000;

/** The parts. */
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
  // With the settings of the stack tests, which have synthesised it already.
  const assembly = synthesise('minified', { approveNames: false, documentation: true, ...settings });
  const whole = await startSimulatedStack({
    assembly,
    dynamodbEndpoint,
    tableName,
    minute,
    throttles: false,
    onLine: () => undefined,
    ...more,
  });
  const { baseUrl, bridgeUrl, awsEndpoint: awsUrl } = whole.stack;
  const { functions } = await readLocalTemplate(await assembly, { tableName, baseUrl, bridgeUrl, awsUrl });
  // Code of the functions also runs in this process.
  for (const { environment } of functions) Object.assign(process.env, environment);
  for (const { id } of demoBots) await updateAccount(id, UNLIMITED);
  return whole;
};
