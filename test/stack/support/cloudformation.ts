/**
 * A server that answers DescribeStacks as CloudFormation does, for stacks with these outputs; GetSecretValue and
 * PutSecretValue as Secrets Manager does; and other calls as a test wants.
 */
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { inject, onTestFinished } from 'vitest';
import { listenOnLoopback } from '../../../infra/local/aws/loopback.ts';
import { HASH_SECRET } from '../../../infra/operator/local-stack/hash-secret.ts';
import { type Environment, remote } from './operator.ts';

const { base_url: BaseUrl, bridge_url: BridgeUrl, table: TableName } = inject('stack');

/** The outputs of the served stack that commands need. */
export const servedOutputs = {
  TableName,
  HashSecretName: 'hash-secret',
  AppNetworkSecret: 'app-network',
  BaseUrl,
  BridgeUrl,
  CounterRetention: '400',
};

const NAMESPACE = 'http://cloudformation.amazonaws.com/doc/2010-05-15/';

const described = (name: string, outputs: object, status: string): string => {
  const members = Object.entries(outputs).map(
    ([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
  );
  const id = `arn:aws:cloudformation:eu-west-1:123456789012:stack/${name}/0199a3f2`;
  const stack = `<StackId>${id}</StackId><StackName>${name}</StackName><CreationTime>2027-01-31T12:00:00Z</CreationTime><StackStatus>${status}</StackStatus>`;
  return `<DescribeStacksResponse xmlns="${NAMESPACE}"><DescribeStacksResult><Stacks><member>${stack}<Outputs>${members.join('')}</Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`;
};

const failed = (code: string, message: string): string =>
  `<ErrorResponse xmlns="${NAMESPACE}"><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error><RequestId>1</RequestId></ErrorResponse>`;

type Answer = string | object;

interface Given {
  /** The status of all stacks. */
  status?: string;
  /**
   * Bodies of further responses by the action, or functions of the request's body that return them. A string is XML,
   * `{ error }` an error with this code.
   */
  answers?: Record<string, Answer | ((body: string) => Answer)>;
  /** The secrets besides that of hashes, by name; undefined may not be used. */
  secrets?: Record<string, string | undefined>;
  /** The `Date` header. */
  date?: Date;
}

/** The action of a call in each of AWS's protocols: JSON, REST, or a form. */
const actionOf = (target: unknown, path: string, form: URLSearchParams): string =>
  String(target ?? '').split('.')[1] ??
  (path.endsWith('/account-settings') ? 'GetAccountSettings' : (form.get('Action') ?? ''));

/**
 * Starts the server until the test ends. Returns an environment in which commands find it.
 *
 * @param stacks - the outputs by the stack's name; a string is the code of an error
 */
export const serveStacks = async (
  stacks: Record<string, object | string>,
  { status = 'CREATE_COMPLETE', answers = {}, secrets = {}, date }: Given = {},
): Promise<Environment> => {
  const server = createServer(async (request, response) => {
    if (date !== undefined) response.setHeader('date', date.toUTCString());
    const target = request.headers['x-amz-target'];
    const body = await text(request);
    const form = new URLSearchParams(body);
    const given = answers[actionOf(target, request.url ?? '', form)];
    const answer: Answer | undefined = typeof given === 'function' ? given(body) : given;
    if (answer !== undefined) {
      const isXml = target === undefined && form.has('Action');
      if (typeof answer === 'string') return response.end(answer);
      if (!('error' in answer)) return response.end(JSON.stringify(answer));
      const code = String(answer.error);
      return response
        .writeHead(400, isXml ? {} : { 'x-amzn-errortype': code })
        .end(isXml ? failed(code, 'Secret') : JSON.stringify({ __type: `aws#${code}`, message: 'Secret' }));
    }
    if (target !== undefined) {
      const { SecretId, SecretString } = JSON.parse(body);
      if (target === 'secretsmanager.PutSecretValue') secrets[SecretId] = SecretString;
      const found = SecretId in secrets ? secrets[SecretId] : HASH_SECRET;
      if (found !== undefined) return response.end(JSON.stringify({ SecretString: found }));
      return response.writeHead(400).end(JSON.stringify({ __type: 'AccessDeniedException', message: 'Denied' }));
    }
    const name = form.get('StackName') ?? '';
    const stack = stacks[name] ?? 'ValidationError';
    const isError = typeof stack === 'string';
    response.writeHead(isError ? 400 : 200, { 'content-type': 'text/xml' });
    return response.end(
      isError ? failed(stack, `Stack with id ${name} does not exist`) : described(name, stack, status),
    );
  });
  const url = await listenOnLoopback(server, 0);
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { TABLE_NAME: _, ...env } = remote;
  const services = ['CLOUDFORMATION', 'SECRETS_MANAGER', 'STS', 'SSM', 'LAMBDA', 'SNS', 'CLOUDWATCH', 'SQS'];
  return { ...env, ...Object.fromEntries(services.map((service) => [`AWS_ENDPOINT_URL_${service}`, url])) };
};
