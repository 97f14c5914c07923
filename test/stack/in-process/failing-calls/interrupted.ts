/**
 * Runs a handler in this process, and injects a fault into one of its calls to AWS. The fault is below the client's
 * retries, so each attempt meets the same fault. The client parses the injected response as it parses one of AWS.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { Readable } from 'node:stream';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { beforeEach, vi } from 'vitest';

interface Call {
  service: string;
  operation: string;
  /** Equal for all attempts of a call. */
  id: string;
}

/** A fault of a call. */
export interface Fault {
  /** Whether the call takes effect. */
  takesEffect: boolean;
  /** The injected response; or no response, because the connection or the process ends. */
  injected: ((call: Call) => Bad) | 'hang-up' | 'end';
  /** Set if the fault applies only to writes to the table, and to all later writes. */
  writesOnly?: true;
  /** Set if the fault applies only to calls that change something: for a read, it is the same as another fault. */
  changesOnly?: true;
  /** Set if the fault differs from another one only in handlers that post to destinations between their calls. */
  postsOnly?: true;
  /** Set if the fault differs from another one only in the response to a caller. */
  responseOnly?: true;
  /** Set if the service does not respond as its API says, and the call has no effect. */
  isOutage?: true;
}

interface Bad {
  status: number;
  body: string;
}

const bad = (status: number, error: object): Bad => ({ status, body: JSON.stringify(error) });

const TRANSACTION = 'TransactWriteItems';
const WRITES = [TRANSACTION, 'PutItem', 'UpdateItem', 'DeleteItem'];

const READS = ['GetItem', 'BatchGetItem', 'Query', 'Scan', 'GetSecretValue', 'GetQueueAttributes', 'GET', 'HEAD'];

/** Whether a fault is possible in an operation. */
export const canMeet = ({ writesOnly, changesOnly }: Fault, operation: string): boolean =>
  (!writesOnly || WRITES.includes(operation)) && (!changesOnly || !READS.includes(operation));

const cancelled = (Code: string): Bad =>
  bad(400, { __type: 'TransactionCanceledException', CancellationReasons: [{ Code: 'None' }, { Code }] });

const throttled = ({ service, operation }: Call): Bad => {
  if (service === 's3') return { status: 503, body: '<Error><Code>SlowDown</Code></Error>' };
  if (operation === TRANSACTION) return cancelled('ThrottlingError');
  return bad(400, {
    __type: service === 'dynamodb' ? 'ProvisionedThroughputExceededException' : 'ThrottlingException',
  });
};

const conflicting = ({ operation }: Call): Bad =>
  operation === TRANSACTION ? cancelled('TransactionConflict') : bad(400, { __type: 'TransactionConflictException' });

/** The faults, by the end of the test name "… if any call". */
export const faults = {
  'is throttled': { takesEffect: false, injected: throttled },
  'conflicts with another transaction at every attempt': {
    takesEffect: false,
    injected: conflicting,
    writesOnly: true,
  },
  'returns 500': {
    takesEffect: false,
    injected: () => bad(500, { __type: 'InternalServerError' }),
    isOutage: true,
  },
  'returns 503 with HTML from a proxy': {
    takesEffect: false,
    injected: () => ({ status: 503, body: '<html>Service Unavailable</html>' }),
    responseOnly: true,
    isOutage: true,
  },
  'loses its connection before it takes effect': { takesEffect: false, injected: 'hang-up', isOutage: true },
  'takes effect, and its response is lost': { takesEffect: true, injected: 'hang-up', changesOnly: true },
  // Between two changes, it does not matter which read a process ends at; without a post, nor at which of them.
  'is not made because the process ends': { takesEffect: false, injected: 'end', changesOnly: true, postsOnly: true },
  'is the last one before the process ends': { takesEffect: true, injected: 'end', changesOnly: true },
} satisfies Record<string, Fault>;

/** A run of a handler: its calls so far, and the fault with its position. */
interface Run {
  calls: Map<string, Call>;
  /** Position of the call with the fault, from 1, among those that can meet it: calls at the same time have any order. */
  at: number;
  fault: Fault | undefined;
  ended: PromiseWithResolvers<'ended'>;
  hasEnded: boolean;
  /** Called before and after each change of what AWS stores. */
  look: () => Promise<void>;
}

const current = new AsyncLocalStorage<Run | undefined>();

/** How a client's call is made, and how its responses are dropped or injected. */
interface Way<Answer> {
  make(): Promise<Answer>;
  discard(answer: Answer): void;
  render(bad: Bad): Answer;
}

const faultOf = (run: Run, call: Call): Fault | undefined => {
  run.calls.set(call.id, run.calls.get(call.id) ?? call);
  const { fault, at } = run;
  if (fault === undefined || !canMeet(fault, call.operation)) return undefined;
  const possible = [...run.calls.values()].filter(({ operation }) => canMeet(fault, operation));
  const position = possible.findIndex(({ id }) => id === call.id) + 1;
  return position === at || (position > at && fault.writesOnly) ? fault : undefined;
};

/** The result of each call of a process that has ended: it never settles. */
const never = new Promise<never>(() => undefined);

const pass = async <Answer>(call: Call, { make, discard, render }: Way<Answer>): Promise<Answer> => {
  const run = current.getStore();
  if (run === undefined) return make();
  if (run.hasEnded) return never;
  const fault = faultOf(run, call);
  if (fault === undefined) {
    if (READS.includes(call.operation)) return make();
    await current.run(undefined, run.look);
    const answer = await make();
    await current.run(undefined, run.look);
    return answer;
  }
  // A process that ends makes no further call.
  run.hasEnded = fault.injected === 'end';
  if (fault.takesEffect) discard(await make());
  if (typeof fault.injected === 'function') return render(fault.injected(call));
  if (fault.injected === 'hang-up') throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
  run.ended.resolve('ended');
  return never;
};

/** A request as an SDK client passes it to the request handler. */
interface SdkRequest {
  hostname: string;
  headers: Record<string, string>;
  body: string;
}

interface SdkAnswer {
  response: { statusCode: number; headers: Record<string, string>; body: Readable };
}

/** `DynamoDB_20120810.GetItem`, `AmazonSQS.SendMessageBatch`, `secretsmanager.GetSecretValue`. */
const callOf = ({ headers, body }: SdkRequest): Call => {
  const [prefix = '', operation = ''] = String(headers['x-amz-target']).split('.');
  const service = prefix.startsWith('DynamoDB') ? 'dynamodb' : prefix.toLowerCase();
  // A transaction that the service repeats is a new call for the SDK, but the same writes.
  const id =
    operation === TRANSACTION ? JSON.stringify(JSON.parse(body).TransactItems) : headers['amz-sdk-invocation-id'];
  return { service, operation, id: String(id) };
};

/** Intercepts all calls to AWS in the test file. */
export const useInterruptions = (): void => {
  // All clients of the SDK use the same class of request handlers.
  const wire = Object(NodeHttpHandler.prototype);
  const handle: (request: SdkRequest, options: unknown) => Promise<SdkAnswer> = wire.handle;
  const fetchOf = globalThis.fetch;

  beforeEach(() => {
    // The SDK multiplies the pause before a retry by a random number: 0 removes it.
    vi.spyOn(Math, 'random').mockReturnValue(0);
    vi.spyOn(wire, 'handle').mockImplementation(function (this: unknown, ...args: unknown[]) {
      const [request, options] = args as [SdkRequest, unknown];
      return pass(callOf(request), {
        make: () => handle.call(this, request, options),
        discard: ({ response }) => void response.body.resume(),
        render: ({ status, body }) => ({
          response: {
            statusCode: status,
            headers: { 'content-type': 'application/x-amz-json-1.0' },
            body: Readable.from([Buffer.from(body)]),
          },
        }),
      });
    });
    vi.spyOn(globalThis, 'fetch').mockImplementation((input, init) => {
      const { method, url } = input instanceof Request ? input : new Request(input, init);
      return pass<Response>(
        { service: 's3', operation: method, id: `${method} ${url}` },
        {
          make: () => fetchOf(input, init),
          discard: (response) => void response.body?.cancel(),
          render: ({ status, body }) => new Response(body, { status }),
        },
      );
    });
  });
};

/** The outcome of a run. */
export type Outcome<Result> = { result: Result } | { error: Error } | 'ended';

/** Runs `work` without a fault. Returns the operations of its calls. `look` is called before and after each change. */
export const watched = async <Result>(
  work: () => Promise<Result>,
  look: () => Promise<void>,
): Promise<{ outcome: Outcome<Result>; calls: string[] }> => {
  const run = newRun(0, undefined, look);
  const outcome = await outcomeOf(run, work);
  return { outcome, calls: [...run.calls.values()].map(({ operation }) => operation) };
};

/** Runs `work` with a fault in the call at this position, from 1, among those that can meet it. */
export const interrupted = <Result>(work: () => Promise<Result>, at: number, fault: Fault): Promise<Outcome<Result>> =>
  outcomeOf(
    newRun(at, fault, async () => undefined),
    work,
  );

const newRun = (at: number, fault: Fault | undefined, look: () => Promise<void>): Run => ({
  calls: new Map(),
  at,
  fault,
  ended: Promise.withResolvers(),
  hasEnded: false,
  look,
});

const outcomeOf = <Result>(run: Run, work: () => Promise<Result>): Promise<Outcome<Result>> =>
  Promise.race([
    run.ended.promise,
    current.run(run, work).then(
      (result) => ({ result }),
      (error: Error) => ({ error }),
    ),
  ]);
