/** A stack of a test's own beside the served one, with its app network: for what would disturb other tests. */
import { inject, onTestFinished } from 'vitest';
import { callTableOf } from '../../../infra/local/call-table.ts';
import { type Demo, seedDemo } from '../../../infra/local/demo.ts';
import { LocalStack, type LocalStackOptions } from '../../../infra/local/local-stack.ts';
import { AppNetwork } from '../../../infra/local/simulated/app-network.ts';

interface OwnStack {
  stack: LocalStack;
  app: AppNetwork;
  demo: Demo;
}

interface OwnStackOptions extends Partial<Omit<LocalStackOptions, 'minute'>> {
  minute: number;
  /** Tells its table from others'. */
  name: string;
  /** Rolls the dice of the app network. */
  random?: () => number;
}

/** Serves it until the test is over. Test code reaches its table from then on, and no other's. */
export const serveOwnStack = async ({ name, random, ...options }: OwnStackOptions): Promise<OwnStack> => {
  const { assembly, table: served } = inject('stack');
  const table = `${served}-${name}`;
  const app = await AppNetwork.start({ port: 0, ...(random && { random }) });
  onTestFinished(() => app.close());
  const stack = await LocalStack.start({
    assembly: Promise.resolve(assembly),
    ports: { base: 0, bridge: 0 },
    dynamodbEndpoint: process.env.DYNAMODB_ENDPOINT || undefined,
    tableName: table,
    secret: app.stackSecret,
    onLine: () => undefined,
    ...options,
  });
  onTestFinished(() => stack.close());
  callTableOf({ dynamodbEndpoint: stack.dynamodbEndpoint, table });
  const demo = await seedDemo();
  app.connect({ bridgeUrl: stack.bridgeUrl, appToken: demo.app_token });
  return { stack, app, demo };
};
