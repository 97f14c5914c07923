/** A fake SQS queue of wake-ups on loopback, which rejects entries outside of SQS limits. */
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import * as v from 'valibot';
import { afterAll, beforeAll, beforeEach, vi } from 'vitest';
import { closeServer, listenOnLoopback } from '../../../infra/local/aws/loopback.ts';

/** Letters, digits and punctuation. */
const name = v.pipe(v.string(), v.regex(/^[!-~]{1,128}$/));

const entry = v.strictObject({
  Id: v.pipe(v.string(), v.regex(/^[\w-]{1,80}$/)),
  MessageBody: v.pipe(v.string(), v.nonEmpty()),
  MessageGroupId: name,
  MessageDeduplicationId: name,
});

const inputs = {
  SendMessageBatch: v.strictObject({
    QueueUrl: v.string(),
    Entries: v.pipe(
      v.array(entry),
      v.minLength(1),
      v.maxLength(10),
      v.check((entries) => new Set(entries.map(({ Id }) => Id)).size === entries.length),
    ),
  }),
  DeleteMessageBatch: v.strictObject({
    QueueUrl: v.string(),
    Entries: v.pipe(
      v.array(v.strictObject({ Id: entry.entries.Id, ReceiptHandle: v.string() })),
      v.minLength(1),
      v.maxLength(10),
      v.check((entries) => new Set(entries.map(({ Id }) => Id)).size === entries.length),
    ),
  }),
  ChangeMessageVisibility: v.strictObject({
    QueueUrl: v.string(),
    ReceiptHandle: v.string(),
    VisibilityTimeout: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(43_200)),
  }),
};

type Sent = v.InferOutput<typeof entry>;

interface FakeQueue {
  /** The entries of each call, accepted or not. */
  calls: Sent[][];
  /** The accepted entries in order. */
  taken: Sent[];
  /** The calls that change visibility timeouts, in seconds. */
  returned: { ReceiptHandle: string; VisibilityTimeout: number }[];
  /** The receipt handles of the messages that were removed. */
  removed: string[];
  /** Whether the queue accepts an entry. */
  takes: (entry: Sent) => boolean;
  /** Whether every call fails. */
  down: boolean;
  /** Whether no call gets a response. */
  hangs: boolean;
  /** The number of requests, answered or not. */
  requests: number;
  /** The number of messages that wait, as the queue tells it. */
  waiting: number;
}

/**
 * Starts a queue for a test file, and sets the environment variables of functions. The queue is empty at the beginning
 * of each test.
 */
export const useFakeQueue = (): FakeQueue => {
  const queue: FakeQueue = {
    calls: [],
    taken: [],
    returned: [],
    removed: [],
    takes: () => true,
    down: false,
    hangs: false,
    requests: 0,
    waiting: 0,
  };
  let url = '';

  const answer = (action: string, body: unknown): unknown => {
    if (queue.down) throw new Error('The queue is down.');
    if (action === 'ChangeMessageVisibility') {
      const { QueueUrl: _, ...returned } = v.parse(inputs[action], body);
      queue.returned.push(returned);
      return {};
    }
    if (action === 'DeleteMessageBatch') {
      const { Entries: removed } = v.parse(inputs[action], body);
      queue.removed.push(...removed.map(({ ReceiptHandle }) => ReceiptHandle));
      return { Successful: removed.map(({ Id }) => ({ Id })) };
    }
    if (action === 'GetQueueAttributes') return { Attributes: { ApproximateNumberOfMessages: String(queue.waiting) } };
    if (action !== 'SendMessageBatch') throw new Error(`Nobody needs ${action}.`);
    const { Entries } = v.parse(inputs[action], body);
    queue.calls.push(Entries);
    const taken = Entries.filter((one) => queue.takes(one));
    queue.taken.push(...taken);
    const rejected = Entries.filter((one) => !taken.includes(one));
    return {
      Successful: taken.map(({ Id, MessageBody }) => ({
        Id,
        MessageId: Id,
        MD5OfMessageBody: createHash('md5').update(MessageBody).digest('hex'),
      })),
      // Like SQS, omits the list if nothing failed.
      ...(rejected.length > 0 && {
        Failed: rejected.map(({ Id }) => ({ Id, Code: 'ServiceUnavailable', SenderFault: false })),
      }),
    };
  };

  const server = createServer(async (request, response) => {
    const [, action = ''] = String(request.headers['x-amz-target']).split('.');
    const body = await json(request);
    queue.requests += 1;
    if (queue.hangs) return;
    response.setHeader('content-type', 'application/x-amz-json-1.0');
    try {
      response.end(JSON.stringify(answer(action, body)));
    } catch (error) {
      response.writeHead(400).end(JSON.stringify({ __type: 'com.amazonaws.sqs#Refused', message: String(error) }));
    }
  });

  beforeAll(async () => {
    url = await listenOnLoopback(server, 0);
  });

  afterAll(() => closeServer(server));

  beforeEach(() => {
    vi.stubEnv('QUEUE_URL', `${url}/000000000000/wake-ups.fifo`);
    vi.stubEnv('EXPANSION_QUEUE_URL', `${url}/000000000000/expansions.fifo`);
    vi.stubEnv('AWS_ENDPOINT_URL_SQS', url);
    vi.stubEnv('AWS_REGION', 'us-east-1');
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'test');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test');
    for (const list of [queue.calls, queue.taken, queue.returned, queue.removed]) list.length = 0;
    queue.takes = () => true;
    queue.down = false;
    queue.hangs = false;
    queue.requests = 0;
    queue.waiting = 0;
  });

  return queue;
};
