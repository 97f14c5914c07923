/** Which table the command works on: one in AWS if it is named, else the running local stack's. */
import { callTableOf } from '../local/call-table.ts';
import { readStackFile } from '../local/stack-file.ts';
import { Refusal } from './queries/accounts-admin.ts';

/**
 * Points this process's calls of the table at its target.
 *
 * @param name - a table in AWS; the SDK finds region and credentials in its usual places
 * @throws Refusal — no table is named, and no local stack runs
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

/** A stack that was killed leaves its file behind. */
const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
};
