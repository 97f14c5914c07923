/** The log groups of a deployed stack, among its resources in CloudFormation. */
import { UserError } from '../queries/accounts-admin.ts';
import { ATTEMPTS } from '../terminal/retries.ts';

/**
 * Lists the names of the log groups of a stack.
 *
 * @throws UserError — the credentials may not list the stack's resources, or it has no log groups
 */
export const logGroupsOf = async (stack: string): Promise<string[]> => {
  const { CloudFormationClient, paginateListStackResources } = await import('@aws-sdk/client-cloudformation');
  const client = new CloudFormationClient({ maxAttempts: ATTEMPTS });
  const groups: string[] = [];
  try {
    for await (const page of paginateListStackResources({ client }, { StackName: stack })) {
      for (const { ResourceType, PhysicalResourceId } of page.StackResourceSummaries ?? []) {
        if (ResourceType === 'AWS::Logs::LogGroup' && PhysicalResourceId !== undefined) groups.push(PhysicalResourceId);
      }
    }
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'AccessDenied') throw error;
    throw new UserError(
      `These credentials may not list the resources of the stack "${stack}" (cloudformation:ListStackResources).`,
    );
  } finally {
    client.destroy();
  }
  if (groups.length === 0) throw new UserError(`The stack "${stack}" has no log groups. Is its deployment complete?`);
  return groups;
};
