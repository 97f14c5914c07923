/** A stack of a test's own beside the served one, with all that is outside of it: for what would disturb other tests. */
import { inject, onTestFinished } from 'vitest';
import { callTableOf } from '../../../infra/local/call-table.ts';
import { type Demo, seedDemo } from '../../../infra/local/demo.ts';
import { LocalStack, type LocalStackOptions } from '../../../infra/local/local-stack.ts';
import type { AppNetwork } from '../../../infra/local/simulators/app-network/app-network.ts';
import type { RapidPro } from '../../../infra/local/simulators/rapidpro/rapidpro.ts';
import { Simulators } from '../../../infra/local/simulators/simulators.ts';
import type { Turn } from '../../../infra/local/simulators/turn/turn.ts';
import { callRecorder } from '../../support/run-record.ts';

export interface OwnStack {
  stack: LocalStack;
  app: AppNetwork;
  rapidpro: RapidPro;
  turn: Turn;
  demo: Demo;
}

interface OwnStackOptions extends Partial<Omit<LocalStackOptions, 'minute'>> {
  minute: number;
  /** Tells its table from others'. */
  name: string;
  /** Rolls the dice of the app network, of RapidPro and of Turn. */
  random?: () => number;
  /** How long RapidPro waits for an answer, in milliseconds; as long as the real one, where nothing is said. */
  patience?: number;
}

/** Serves it until the test is over. Test code reaches its table from then on, and no other's. */
export const serveOwnStack = async ({
  name,
  random,
  patience = 30_000,
  ...options
}: OwnStackOptions): Promise<OwnStack> => {
  const { assembly, calls, table: served } = inject('stack');
  const table = `${served}-${name}`;
  const simulators = await Simulators.start({
    ports: { phone: 0, rapidpro: 0, turn: 0 },
    minute: options.minute,
    patience,
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
  const demo = await seedDemo(simulators);
  simulators.connect({ bridgeUrl: stack.bridgeUrl, appToken: demo.app_token });
  return { stack, app, rapidpro, turn, demo };
};
