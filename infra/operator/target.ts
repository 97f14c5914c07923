/** The table that the command uses: a named one in AWS, else the running local stack's. */
import { callTableOf } from '../local/call-table.ts';
import { readStackFile } from '../local/stack-file.ts';
import { Refusal } from './queries/accounts-admin.ts';

/**
 * Sets the table that this process uses.
 *
 * @param name - a table in AWS; without a name, the local stack's. The SDK finds region and credentials as usual
 * @throws Refusal — no table is named, and no local stack is running
 */
export const useTable = async (name: string | undefined): Promise<void> => {
  if (name) {
    process.env.TABLE_NAME = name;
    return;
  }
  const stack = await readStackFile();
  if (stack === undefined || !isRunning(stack.pid)) {
    throw new Refusal(
      'No local stack is running. Start it with "npm start", or name a table in AWS with --table and sign in to AWS.',
    );
  }
  const { dynamodb_endpoint: dynamodbEndpoint, s3_endpoint: bucketsEndpoint, table } = stack;
  callTableOf({ dynamodbEndpoint, table, bucketsEndpoint });
};

/** Whether a process exists: the file of a stack that was killed remains. */
const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
};
