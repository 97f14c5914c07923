/** The log groups of a deployed stack, among its resources in CloudFormation. */
import { UserError } from '../queries/accounts-admin.ts';
import { resourcesOf } from '../stack-outputs.ts';

/**
 * Lists the names of the log groups of a stack.
 *
 * @throws UserError — the credentials may not list the stack's resources, or it has no log groups
 */
export const logGroupsOf = async (stack: string): Promise<string[]> => {
  const groups = (await resourcesOf(stack)).flatMap(({ ResourceType, PhysicalResourceId }) =>
    ResourceType === 'AWS::Logs::LogGroup' && PhysicalResourceId !== undefined ? [PhysicalResourceId] : [],
  );
  if (groups.length === 0) throw new UserError(`The stack "${stack}" has no log groups. Is its deployment complete?`);
  return groups;
};
