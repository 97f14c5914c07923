/**
 * The stack, served in the process of the tests, so that the code with the active mutant handles their requests. Its
 * minutes are shorter than in other stack tests, so that tests of mutants take less time.
 */
import { startStack, type TestStack } from '../stack/support/start-stack.ts';
import { environment, FunctionHere, loaded } from './function-here.ts';

/** Milliseconds of a minute of the schedule. */
const MINUTE = 1_000;

/** The stack, and the environment variables of its functions. */
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
    // Functions and tests share one client of the table, so that readers of the stream receive every write.
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
