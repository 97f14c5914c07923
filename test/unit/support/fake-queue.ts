/** A queue of wake-ups on loopback, which holds what it gets against SQS's limits. */
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
  ChangeMessageVisibility: v.strictObject({
    QueueUrl: v.string(),
    ReceiptHandle: v.string(),
    VisibilityTimeout: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(43_200)),
  }),
};

type Sent = v.InferOutput<typeof entry>;

interface FakeQueue {
  /** What each call brought, whether it was taken or not. */
  calls: Sent[][];
  /** What was taken, in the order in which it came. */
  taken: Sent[];
  /** What is to come again, and in how many seconds. */
  returned: { ReceiptHandle: string; VisibilityTimeout: number }[];
  /** Whether an entry is taken. */
  takes: (entry: Sent) => boolean;
  /** Whether every call fails. */
  down: boolean;
}

/** Takes a queue, and the environment by which functions find it, for a test file. Each test has it empty. */
export const useFakeQueue = (): FakeQueue => {
  const queue: FakeQueue = { calls: [], taken: [], returned: [], takes: () => true, down: false };
  let url = '';

  const answer = (action: string, body: unknown): unknown => {
    if (queue.down) throw new Error('The queue is down.');
    if (action === 'ChangeMessageVisibility') {
      const { QueueUrl: _, ...returned } = v.parse(inputs[action], body);
      queue.returned.push(returned);
      return {};
    }
    if (action !== 'SendMessageBatch') throw new Error(`Nobody needs ${action}.`);
    const { Entries } = v.parse(inputs[action], body);
    queue.calls.push(Entries);
    const taken = Entries.filter((one) => queue.takes(one));
    queue.taken.push(...taken);
    const refused = Entries.filter((one) => !taken.includes(one));
    return {
      Successful: taken.map(({ Id, MessageBody }) => ({
        Id,
        MessageId: Id,
        MD5OfMessageBody: createHash('md5').update(MessageBody).digest('hex'),
      })),
      // Left out where nothing failed, as SQS does.
      ...(refused.length > 0 && {
        Failed: refused.map(({ Id }) => ({ Id, Code: 'ServiceUnavailable', SenderFault: false })),
      }),
    };
  };

  const server = createServer(async (request, response) => {
    const [, action = ''] = String(request.headers['x-amz-target']).split('.');
    const body = await json(request);
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
    vi.stubEnv('AWS_ENDPOINT_URL_SQS', url);
    vi.stubEnv('AWS_REGION', 'us-east-1');
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'test');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test');
    for (const list of [queue.calls, queue.taken, queue.returned]) list.length = 0;
    queue.takes = () => true;
    queue.down = false;
  });

  return queue;
};
