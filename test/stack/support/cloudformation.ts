/**
 * A server that answers DescribeStacks as CloudFormation does, for stacks with these outputs; and GetSecretValue and
 * PutSecretValue as Secrets Manager does, and GetCallerIdentity.
 */
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { listenOnLoopback } from '../../../infra/local/aws/loopback.ts';
import { HASH_SECRET } from '../../../infra/operator/local-stack/hash-secret.ts';
import { type Environment, remote } from './operator.ts';

const NAMESPACE = 'http://cloudformation.amazonaws.com/doc/2010-05-15/';

/** The operator, as AWS knows them. */
export const CALLER = 'arn:aws:sts::123456789012:assumed-role/operators/jane';

const described = (name: string, outputs: object): string => {
  const members = Object.entries(outputs).map(
    ([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
  );
  const id = `arn:aws:cloudformation:eu-west-1:123456789012:stack/${name}/0199a3f2`;
  const stack = `<StackId>${id}</StackId><StackName>${name}</StackName><CreationTime>2027-01-31T12:00:00Z</CreationTime><StackStatus>CREATE_COMPLETE</StackStatus>`;
  return `<DescribeStacksResponse xmlns="${NAMESPACE}"><DescribeStacksResult><Stacks><member>${stack}<Outputs>${members.join('')}</Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`;
};

const failed = (code: string, message: string): string =>
  `<ErrorResponse xmlns="${NAMESPACE}"><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error><RequestId>1</RequestId></ErrorResponse>`;

/**
 * Starts the server until the test ends. Returns an environment in which commands find it.
 *
 * @param stacks - the outputs by the stack's name; a string is the code of an error
 * @param secrets - the secrets besides that of hashes, by name; undefined may not be used
 */
export const serveStacks = async (
  stacks: Record<string, object | string>,
  secrets: Record<string, string | undefined> = {},
): Promise<Environment> => {
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const target = request.headers['x-amz-target'];
    if (target !== undefined) {
      const { SecretId, SecretString } = JSON.parse(body);
      if (target === 'secretsmanager.PutSecretValue') secrets[SecretId] = SecretString;
      const found = SecretId in secrets ? secrets[SecretId] : HASH_SECRET;
      if (found !== undefined) return response.end(JSON.stringify({ SecretString: found }));
      return response.writeHead(400).end(JSON.stringify({ __type: 'AccessDeniedException', message: 'Denied' }));
    }
    const call = new URLSearchParams(body);
    if (call.get('Action') === 'GetCallerIdentity') return response.end(`<Arn>${CALLER}</Arn>`);
    const name = call.get('StackName') ?? '';
    const stack = stacks[name] ?? 'ValidationError';
    const isError = typeof stack === 'string';
    response.writeHead(isError ? 400 : 200, { 'content-type': 'text/xml' });
    return response.end(isError ? failed(stack, `Stack with id ${name} does not exist`) : described(name, stack));
  });
  const url = await listenOnLoopback(server, 0);
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { TABLE_NAME: _, ...env } = remote;
  return {
    ...env,
    AWS_ENDPOINT_URL_CLOUDFORMATION: url,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: url,
    AWS_ENDPOINT_URL_STS: url,
  };
};
