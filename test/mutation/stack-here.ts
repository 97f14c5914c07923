/**
 * The stack, served from within the process of the tests: what they send over HTTP is handled by the very code in which
 * a mutant is active. Everything else is as for all stack tests, but for shorter minutes: tests of mutants
 * wait for less.
 */
import { startStack, type TestStack } from '../stack/support/start-stack.ts';
import { environment, FunctionHere, loaded } from './function-here.ts';

/** In milliseconds. */
const MINUTE = 1_000;

/** The stack, and what its functions find in their environment. */
export interface ServedHere {
  stack: TestStack;
  environment: Record<string, string>;
}

export const serveHere = async ({
  assembly,
  log,
  calls,
}: Pick<TestStack, 'assembly' | 'log' | 'calls'>): Promise<ServedHere> => {
  const { served } = await startStack({
    assembly,
    synthesised: Promise.resolve(),
    log,
    calls,
    table: `business-api-mutation-${process.pid}`,
    // Functions and tests call the table through one client here, so that readers of the stream learn of every write.
    tableAt: async () => {
      await loaded();
      return environment.AWS_ENDPOINT_URL_DYNAMODB ?? '';
    },
    minute: MINUTE,
    dynamodbEndpoint: undefined,
    functions: FunctionHere,
    environment,
  });
  return { stack: served, environment };
};
