/**
 * Runs a handler in this process, and has one of its calls of AWS go wrong: below the clients' own attempts, which all
 * meet the same. What comes back is what AWS would send, and the clients read it themselves.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { Readable } from 'node:stream';
import { beforeEach, vi } from 'vitest';
import { documents } from '../../../shared/table/client.ts';

interface Call {
  service: string;
  operation: string;
  /** The same at each attempt. */
  id: string;
}

/** What goes wrong with a call. */
export interface Fault {
  /** Whether it takes effect all the same. */
  isMade: boolean;
  /** What comes back: an answer; or nothing, for the connection ends, or the process does. */
  comes: ((call: Call) => Bad) | 'hang-up' | 'end';
  /** Set where it happens to writes of the table alone, and to those that repeat them. */
  ofWrites?: true;
  /** Set where it differs from another one only in what a caller may be told of it. */
  isTold?: true;
}

interface Bad {
  status: number;
  body: string;
}

const bad = (status: number, error: object): Bad => ({ status, body: JSON.stringify(error) });

const TRANSACTION = 'TransactWriteItems';
const WRITES = [TRANSACTION, 'PutItem', 'UpdateItem', 'DeleteItem'];

/** Whether a fault can happen to an operation. */
export const canMeet = ({ ofWrites }: Fault, operation: string): boolean => !ofWrites || WRITES.includes(operation);

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

/** Everything that can go wrong with a call. */
export const faults = {
  'is throttled': { isMade: false, comes: throttled },
  'meets a transaction that does not end': { isMade: false, comes: conflicting, ofWrites: true },
  'fails over there': { isMade: false, comes: () => bad(500, { __type: 'InternalServerError' }) },
  'is answered by whatever stands before the service': {
    isMade: false,
    comes: () => ({ status: 503, body: '<html>Service Unavailable</html>' }),
    isTold: true,
  },
  'does not get through': { isMade: false, comes: 'hang-up' },
  'has its answer lost': { isMade: true, comes: 'hang-up' },
  'is not made, since the process ends': { isMade: false, comes: 'end' },
  'is the last one of a process': { isMade: true, comes: 'end' },
} satisfies Record<string, Fault>;

/** A run of a handler: the calls that it has made, and which of them goes wrong. */
interface Run {
  calls: Map<string, Call>;
  /** Place of the call, from 1. */
  at: number;
  fault: Fault | undefined;
  ended: PromiseWithResolvers<'ended'>;
  hasEnded: boolean;
  /** Looks at what there is before and after each call. */
  look: () => Promise<void>;
}

const current = new AsyncLocalStorage<Run | undefined>();

/** How a client's call is made, and what it gets. */
interface Way<Answer> {
  make(): Promise<Answer>;
  discard(answer: Answer): void;
  render(bad: Bad): Answer;
}

const faultOf = (run: Run, call: Call): Fault | undefined => {
  run.calls.set(call.id, run.calls.get(call.id) ?? call);
  const { fault, at } = run;
  const place = [...run.calls.keys()].indexOf(call.id) + 1;
  if (fault === undefined || !canMeet(fault, call.operation)) return undefined;
  return place === at || (place > at && fault.ofWrites) ? fault : undefined;
};

/** What a process that has ended waits for. */
const never = new Promise<never>(() => undefined);

const pass = async <Answer>(call: Call, { make, discard, render }: Way<Answer>): Promise<Answer> => {
  const run = current.getStore();
  if (run === undefined) return make();
  if (run.hasEnded) return never;
  const fault = faultOf(run, call);
  if (fault === undefined) {
    await current.run(undefined, run.look);
    const answer = await make();
    await current.run(undefined, run.look);
    return answer;
  }
  // From here on nothing else leaves a process that is to end.
  run.hasEnded = fault.comes === 'end';
  if (fault.isMade) discard(await make());
  if (typeof fault.comes === 'function') return render(fault.comes(call));
  if (fault.comes === 'hang-up') throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
  run.ended.resolve('ended');
  return never;
};

/** A request as the SDK's clients hand it to what sends it. */
interface SdkRequest {
  hostname: string;
  headers: Record<string, string>;
}

interface SdkAnswer {
  response: { statusCode: number; headers: Record<string, string>; body: Readable };
}

/** `DynamoDB_20120810.GetItem`, `AmazonSQS.SendMessageBatch`, `secretsmanager.GetSecretValue`. */
const callOf = ({ headers }: SdkRequest): Call => {
  const [prefix = '', operation = ''] = String(headers['x-amz-target']).split('.');
  const service = prefix.startsWith('DynamoDB') ? 'dynamodb' : prefix.toLowerCase();
  return { service, operation, id: String(headers['amz-sdk-invocation-id']) };
};

/** Has all calls of this test file's handlers pass here. */
export const useInterruptions = (): void => {
  // One class sends for all clients of the SDK.
  const wire = Object.getPrototypeOf(documents.config.requestHandler);
  const handle: (request: SdkRequest, options: unknown) => Promise<SdkAnswer> = wire.handle;
  const fetchOf = globalThis.fetch;

  beforeEach(() => {
    // The pauses before attempts are of random length: of none here.
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

/** What came of a run. */
export type Outcome<Result> = { result: Result } | { error: Error } | 'ended';

/** Runs `work` undisturbed. Answers which calls it made; `look` looks at what there is before and after each. */
export const watched = async <Result>(
  work: () => Promise<Result>,
  look: () => Promise<void>,
): Promise<{ outcome: Outcome<Result>; calls: string[] }> => {
  const run = newRun(0, undefined, look);
  const outcome = await outcomeOf(run, work);
  return { outcome, calls: [...run.calls.values()].map(({ operation }) => operation) };
};

/** Runs `work`, the call at this place of which, from 1, goes wrong. */
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
