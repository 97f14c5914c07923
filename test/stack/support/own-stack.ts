/** A separate stack with simulators, for tests that would disturb others on the served stack. */
import { inject, onTestFinished } from 'vitest';
import { type Demo, seedDemo } from '../../../infra/local/demo.ts';
import { LocalStack, type LocalStackOptions } from '../../../infra/local/local-stack.ts';
import type { AppNetwork } from '../../../infra/local/simulators/app-network/app-network.ts';
import type { RapidPro } from '../../../infra/local/simulators/rapidpro/rapidpro.ts';
import { Simulators } from '../../../infra/local/simulators/simulators.ts';
import type { Turn } from '../../../infra/local/simulators/turn/turn.ts';
import { callTableOf } from '../../../infra/operator/local-stack/call-table.ts';
import { callRecorder } from '../../support/run-record.ts';
import { moveTo } from '../../support/table-client.ts';

export interface OwnStack {
  stack: LocalStack;
  app: AppNetwork;
  rapidpro: RapidPro;
  turn: Turn;
  demo: Demo;
}

export interface OwnStackOptions extends Partial<Omit<LocalStackOptions, 'minute'>> {
  minute: number;
  /** The suffix of the table's name. */
  name: string;
  /** The random numbers of the simulators. */
  random?: () => number;
  /** The time that RapidPro waits for a response, in milliseconds. Default: as the real RapidPro. */
  timeoutMs?: number;
}

/** Serves a stack until the test ends. From then on, test code uses the table of this stack. */
export const serveOwnStack = async ({
  name,
  random,
  timeoutMs = 30_000,
  ...options
}: OwnStackOptions): Promise<OwnStack> => {
  const { assembly, calls, table: served } = inject('stack');
  const table = `${served}-${name}`;
  const simulators = await Simulators.start({
    ports: { phone: 0, rapidpro: 0, turn: 0 },
    minute: options.minute,
    timeoutMs,
    ...(random && { random }),
  });
  onTestFinished(() => simulators.close());
  const { app, rapidpro, turn } = simulators;
  const stack = await LocalStack.start({
    assembly: Promise.resolve(assembly),
    ports: { base: 0, bridge: 0 },
    dynamodbEndpoint: process.env.DYNAMODB_ENDPOINT || undefined,
    tableName: table,
    secret: app.stackSecret,
    onLine: () => undefined,
    onCall: callRecorder(calls),
    ...options,
  });
  onTestFinished(() => stack.close());
  callTableOf({ dynamodbEndpoint: stack.dynamodbEndpoint, table });
  // A test that is repeated has another stack.
  moveTo(stack.dynamodbEndpoint);
  const demo = await seedDemo(simulators);
  simulators.connect({ bridgeUrl: stack.bridgeUrl, appToken: demo.app_token });
  return { stack, app, rapidpro, turn, demo };
};
