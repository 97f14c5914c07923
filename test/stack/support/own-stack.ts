/** A separate stack with simulators, for tests that would disturb others on the served stack. */
import { inject, onTestFinished } from 'vitest';
import type { Simulators } from '../../../infra/local/simulators/simulators.ts';
import { callRecorder } from '../../support/run-record.ts';
import { type SimulatedStack, type SimulatedStackOptions, startSimulatedStack } from '../../support/simulated-stack.ts';

export type OwnStack = Pick<SimulatedStack, 'stack' | 'demo'> & Pick<Simulators, 'app' | 'rapidpro' | 'turn'>;

export interface OwnStackOptions extends Partial<Omit<SimulatedStackOptions, 'minute'>> {
  minute: number;
  /** The suffix of the table's name. */
  name: string;
}

/** Serves a stack until the test ends. From then on, test code uses the table of this stack. */
export const serveOwnStack = async ({ name, ...options }: OwnStackOptions): Promise<OwnStack> => {
  const { assembly, calls, table } = inject('stack');
  const { stack, simulators, demo, close } = await startSimulatedStack({
    assembly: Promise.resolve(assembly),
    dynamodbEndpoint: process.env.DYNAMODB_ENDPOINT || undefined,
    tableName: `${table}-${name}`,
    // As the real RapidPro.
    timeoutMs: 30_000,
    onLine: () => undefined,
    onCall: callRecorder(calls),
    ...options,
  });
  onTestFinished(close);
  const { app, rapidpro, turn } = simulators;
  return { stack, app, rapidpro, turn, demo };
};
