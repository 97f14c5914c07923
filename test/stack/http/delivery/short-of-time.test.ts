/**
 * Workers that run out of time: the next ones deliver the remaining entries, each once, and wake the remaining conversations.
 *
 * @module-tag long
 */
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { expect, inject, test } from 'vitest';
import { LambdaPool } from '../../../../infra/local/aws/lambda/lambda-pool.ts';
import type { LocalStack } from '../../../../infra/local/local-stack.ts';
import type { PhoneMessage } from '../../../../infra/local/simulators/app-network/inbox.ts';
import { sortableTime } from '../../../../shared/core/clock.ts';
import { sweepPositionsKey } from '../../../../shared/due-work/entities.ts';
import { conversationName, headKey } from '../../../../shared/outbox/entities.ts';
import { getConsistent } from '../../../../shared/table/client.ts';
import { dueOrder, type Key } from '../../../../shared/table/keys.ts';
import { changedAssembly } from '../../support/changed-assembly.ts';
import { putAll } from '../../support/many-items.ts';
import { serveMovingStack } from '../../support/moving-clock.ts';
import { serveOwnStack } from '../../support/own-stack.ts';
import { newPhone, newPhones } from '../../support/world.ts';

const MINUTE = 60_000;

/** The same for all tests, because the table's client of this process reads it once. */
const dynamodbEndpoint = inject('stack').dynamodb_endpoint;

/** The assembly, with a time limit of 15 s for Deliver: three seconds after its start, it begins no further attempt. */
const hurriedAssembly = (): Promise<string> =>
  changedAssembly((resources) => {
    const [deliver] = Object.entries(resources).flatMap(([id, resource]) =>
      id.startsWith('DeliverFunction') ? [resource] : [],
    );
    if (deliver === undefined) throw new Error('The stack has no worker deliver.');
    deliver.Properties.Timeout = 15;
  });

/** Sends a message that is no wake-up to the queues of `deliver` and `expand`. */
const wakeWrongly = async (stack: LocalStack): Promise<void> => {
  const queues = Object.entries(stack.queueUrls()).filter(([id]) => /^(WakeUps|Expansions)[0-9A-F]{8}$/.test(id));
  expect(queues).toHaveLength(2);
  for (const [, QueueUrl] of queues) {
    const wrong = { QueueUrl, MessageBody: '{}', MessageGroupId: 'wrong', MessageDeduplicationId: 'wrong' };
    await new SQSClient({ endpoint: stack.awsEndpoint }).send(new SendMessageCommand(wrong));
  }
};

test('the next worker delivers messages that a worker has no time for, in order, beside an invalid wake-up of each queue', async () => {
  const lines: string[] = [];
  const { stack, app, demo } = await serveOwnStack({
    name: 'hurried',
    // A sweep would hide that a worker did not pass its conversation on. None runs within this time.
    minute: MINUTE,
    dynamodbEndpoint,
    assembly: hurriedAssembly(),
    onLine: (_, line) => void lines.push(line),
  });
  await wakeWrongly(stack);
  const phone = newPhone();
  await fetch(`${app.phoneUrl}/behaviour`, { method: 'PUT', body: JSON.stringify([{ phone, delay_ms: 700 }]) });
  // The sixth attempt cannot begin within three seconds, even if only the app network takes time.
  const texts = Array.from({ length: 6 }, (_, index) => `${index}`);
  for (const body of texts) {
    const { status } = await fetch(`${stack.baseUrl}/v1/message`, {
      method: 'POST',
      headers: { authorization: demo.token, 'content-type': 'application/json' },
      body: JSON.stringify({ to: phone, type: 'text', text: { body } }),
    });
    expect(status).toBe(200);
  }
  const shown = async (): Promise<unknown[]> => {
    const messages = await (await fetch(`${app.phoneUrl}/phones/${phone}/messages`)).json();
    return (messages as PhoneMessage[]).map(({ data }) => 'text' in data && (data.text as { body: string }).body);
  };
  await expect.poll(shown).toEqual(texts);
  const logged = lines.map((line) => JSON.parse(line));
  const workers = logged.filter(({ message }) => message === 'deliver');
  expect(workers.some(({ unfinished }) => unfinished === 1)).toBe(true);
  for (const name of ['deliver', 'expand']) {
    expect(
      logged.some(({ message, level }) => message === name && level === 'error'),
      name,
    ).toBe(true);
  }
});

/** Functions that have 9 s for a run of Sweep, as long as `isHurried` returns true: too few to begin any work. */
const hurriedSweeps = (isHurried: () => boolean) =>
  class extends LambdaPool {
    readonly #hurried: LambdaPool | undefined;

    constructor(...[definition, ...others]: ConstructorParameters<typeof LambdaPool>) {
      super(definition, ...others);
      if (definition.id.startsWith('SweepFunction'))
        this.#hurried = new LambdaPool({ ...definition, timeout: 9_000 }, ...others);
    }

    override invoke(event: unknown): Promise<unknown> {
      return this.#hurried !== undefined && isHurried() ? this.#hurried.invoke(event) : super.invoke(event);
    }

    override get calls(): number {
      return super.calls + (this.#hurried?.calls ?? 0);
    }

    override async close(): Promise<void> {
      await Promise.all([super.close(), this.#hurried?.close()]);
    }
  };

test('a message whose wake-up was lost arrives although a sweep ran out of time: the next one continues where it stopped', async () => {
  let isHurried = true;
  const { app, clock, advance, request } = await serveMovingStack('hurried-sweep', {
    dynamodbEndpoint,
    functions: hurriedSweeps(() => isHurried),
    faultInjection: { loseMessage: () => isHurried },
  });
  const { account } = await request<{ account: string }>('/v1/token/info');
  const [phone = '', ...others] = newPhones(151);
  const { id } = await request<{ id: string }>('/v1/message', { to: phone, type: 'text', text: { body: 'Hello' } });
  const head = await getConsistent<Key>(headKey(conversationName({ direction: 'app', account, phone })));
  // A page of conversations that are due before it, in the same partition. Their entries were delivered.
  const time = sortableTime(clock.now() - MINUTE);
  const heads = others.map((other) => ({
    ...head,
    ...headKey(conversationName({ direction: 'app', account, phone: other })),
    ...{ phone: other, gsi1sk: dueOrder(account, time) },
  }));
  await putAll(heads);

  await advance(2 * MINUTE);
  expect(app.inbox.shownOn(phone)).toEqual([]);
  const stored = () => getConsistent<{ pk: string; sk: string; positions: object[] }>(sweepPositionsKey);
  expect(await stored()).toMatchObject({ positions: [{ account, time }] });

  isHurried = false;
  await advance(MINUTE);
  expect(app.inbox.shownOn(phone)).toMatchObject([{ data: { id } }]);
  expect(await stored()).toMatchObject({ positions: [] });
});
