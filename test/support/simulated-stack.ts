/** A local stack with the simulators and the demo data, on free ports. */
import { type Demo, seedDemo } from '../../infra/local/demo.ts';
import { LocalStack, type LocalStackOptions } from '../../infra/local/local-stack.ts';
import { Simulators, type SimulatorsOptions } from '../../infra/local/simulators/simulators.ts';
import { callTableOf } from '../../infra/operator/local-stack/call-table.ts';
import { moveTo } from './table-client.ts';

export interface SimulatedStack {
  stack: LocalStack;
  simulators: Simulators;
  demo: Demo;
  /** Closes the stack and the simulators. */
  close: () => Promise<void>;
}

export type SimulatedStackOptions = Omit<LocalStackOptions, 'ports' | 'secret'> & Omit<SimulatorsOptions, 'ports'>;

/** Starts the stack. From then on, code of this process uses its table. */
export const startSimulatedStack = async (options: SimulatedStackOptions): Promise<SimulatedStack> => {
  const simulators = await Simulators.start({ ports: { phone: 0, rapidpro: 0, turn: 0 }, ...options });
  const closing: { close(): Promise<void> }[] = [simulators];
  const close = async (): Promise<void> => {
    for (const part of closing.splice(0).reverse()) await part.close();
  };
  try {
    const secret = simulators.app.stackSecret;
    const stack = await LocalStack.start({ ports: { base: 0, bridge: 0 }, secret, ...options });
    closing.push(stack);
    const { dynamodbEndpoint, bucketsEndpoint } = stack;
    callTableOf({ dynamodbEndpoint, bucketsEndpoint, table: options.tableName });
    // Another stack may have been used before.
    moveTo(dynamodbEndpoint);
    const demo = await seedDemo(simulators);
    simulators.connect({ bridgeUrl: stack.bridgeUrl, appToken: demo.app_token });
    return { stack, simulators, demo, close };
  } catch (error) {
    await close();
    throw error;
  }
};
