/** CloudFormation and CloudWatch Logs as `operator tail` calls them, over HTTP. */
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { closeServer, listenOnLoopback } from '../../../infra/local/aws/loopback.ts';

const NAMESPACE = 'http://cloudformation.amazonaws.com/doc/2010-05-15/';

const STACK_ARN = 'arn:aws:cloudformation:eu-west-1:123456789012:stack/business-api-trial/0199a3f2';

const OUTPUTS = {
  TableName: 'table',
  HashSecretName: 'hash-secret',
  BaseUrl: 'https://api.example.com',
  BridgeUrl: 'https://bridge.example.com',
  CounterRetention: '400',
};

const members = (all: object[]): string =>
  all
    .map((one) => {
      const inner = Object.entries(one).map(([name, value]) => `<${name}>${value}</${name}>`);
      return `<member>${inner.join('')}</member>`;
    })
    .join('');

interface LogEvent {
  /** Optional in CloudWatch's responses. */
  eventId?: string;
  logStreamName: string;
  timestamp: number;
  message: string;
}

interface Query {
  logGroupName: string;
  startTime: number;
  nextToken?: string;
  filterPattern?: string;
}

/** The events of a page, and whether more follow. */
type Answer = { events: LogEvent[]; nextToken?: string | undefined };

/** The functions of the lines in other log groups than the first one. */
const STREAMS: Record<string, string> = { '/business-api/trial/other': 'ListLogs' };

/** Events of a page. */
const PAGE = 2;

export const openCloudWatch = async () => {
  /** Log groups by their names: events in the order of their arrival. */
  const groups = new Map<string, LogEvent[]>();
  const queries: Query[] = [];
  /** Errors of the next calls for log events, by type. */
  const errors: string[] = [];
  /** Called at each query, before its answer is made. */
  const hooks = {
    onQuery: (_query: Query): void => undefined,
    onPage: (answer: Answer, _query: Query): Answer => answer,
  };

  const logs = (query: Query): { status: number; body: object } => {
    queries.push(query);
    hooks.onQuery(query);
    const [error] = errors.splice(0, 1);
    if (error !== undefined) {
      return { status: error.startsWith('Service') ? 503 : 400, body: { __type: error, message: 'Secret' } };
    }
    const events = groups.get(query.logGroupName);
    if (events === undefined) return { status: 400, body: { __type: 'ResourceNotFoundException', message: 'Secret' } };
    const found = events
      .filter(({ timestamp, message }) => timestamp >= query.startTime && matches(query.filterPattern, message))
      .sort((one, other) => one.timestamp - other.timestamp);
    const from = Number(query.nextToken ?? 0);
    const nextToken = from + PAGE < found.length ? String(from + PAGE) : undefined;
    return { status: 200, body: hooks.onPage({ events: found.slice(from, from + PAGE), nextToken }, query) };
  };

  /** One log group on each page of the list. */
  const formation = (call: URLSearchParams): string => {
    const action = call.get('Action') ?? '';
    if (action === 'DescribeStacks') {
      const outputs = members(Object.entries(OUTPUTS).map(([OutputKey, OutputValue]) => ({ OutputKey, OutputValue })));
      const stack = { StackId: STACK_ARN, StackName: 'business-api-trial', StackStatus: 'CREATE_COMPLETE' };
      return answerOf(action, `<Stacks>${members([{ ...stack, CreationTime: TIME, Outputs: outputs }])}</Stacks>`);
    }
    const place = Number(call.get('NextToken') ?? 0);
    const names = [...groups.keys(), 'RemovedLogs00000000'];
    const group = { LogicalResourceId: names[place], PhysicalResourceId: names[place] };
    const listed = [
      { ...group, ResourceType: 'AWS::Logs::LogGroup', ResourceStatus: 'CREATE_COMPLETE', LastUpdatedTimestamp: TIME },
      { ...group, ResourceType: 'AWS::IAM::Role', ResourceStatus: 'CREATE_COMPLETE', LastUpdatedTimestamp: TIME },
    ];
    const next = place + 1 < names.length ? `<NextToken>${place + 1}</NextToken>` : '';
    return answerOf(action, `<StackResourceSummaries>${members(listed)}</StackResourceSummaries>${next}`);
  };

  const server = createServer(async (request, response) => {
    const body = await text(request);
    const isLogs = request.headers['x-amz-target'] === 'Logs_20140328.FilterLogEvents';
    if (!isLogs)
      return response.writeHead(200, { 'content-type': 'text/xml' }).end(formation(new URLSearchParams(body)));
    const answer = logs(JSON.parse(body));
    return response
      .writeHead(answer.status, { 'content-type': 'application/x-amz-json-1.1' })
      .end(JSON.stringify(answer.body));
  });
  const url = await listenOnLoopback(server, 0);
  let count = 0;
  return {
    queries,
    errors,
    hooks,
    /** Variables with which commands call this server. */
    environment: {
      AWS_ENDPOINT_URL_CLOUDFORMATION: url,
      AWS_ENDPOINT_URL_CLOUDWATCH_LOGS: url,
      AWS_REGION: 'eu-west-1',
      AWS_ACCESS_KEY_ID: 'operator',
      AWS_SECRET_ACCESS_KEY: 'secret',
    },
    addGroup: (name: string) => void groups.set(name, []),
    /** Adds a line that arrives now. By default, it was also written now. */
    write: (group: string, line: object | string, timestamp = Date.now()) => {
      count += 1;
      const message = typeof line === 'string' ? line : JSON.stringify(line);
      const logStreamName = `2030/01/31/business-api-trial-${STREAMS[group] ?? 'SendMessage'}[$LATEST]0a1b`;
      groups.get(group)?.push({ eventId: `event-${count}`, logStreamName, timestamp, message });
    },
    close: () => closeServer(server),
  };
};

/** Whether a line matches a pattern whose terms are `($.member = "text")`. */
const matches = (pattern: string | undefined, message: string): boolean => {
  if (pattern === undefined) return true;
  const line = JSON.parse(message);
  return [...pattern.matchAll(/\(\$\.(\w+) = "([^"]*)"\)/g)].every(([, name = '', value]) => line[name] === value);
};

const TIME = '2027-01-31T12:00:00Z';

const answerOf = (action: string, result: string): string =>
  `<${action}Response xmlns="${NAMESPACE}"><${action}Result>${result}</${action}Result></${action}Response>`;

export type CloudWatch = Awaited<ReturnType<typeof openCloudWatch>>;
