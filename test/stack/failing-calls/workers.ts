/** Scenarios of the workers and of the operator's repair commands, each with pending work. */
import { marshall } from '@aws-sdk/util-dynamodb';
import type { DynamoDBStreamEvent, SQSEvent } from 'aws-lambda';
import { vi } from 'vitest';
import { handler as count } from '../../../functions/workers/count.ts';
import { handler as deliver } from '../../../functions/workers/deliver.ts';
import { handler as erase } from '../../../functions/workers/erase.ts';
import { handler as relay } from '../../../functions/workers/relay.ts';
import { handler as sweep } from '../../../functions/workers/sweep.ts';
import { recountJobs } from '../../../infra/operator/queries/job-recount.ts';
import { retryConversations } from '../../../infra/operator/queries/outbox-inspection.ts';
import { registerUser } from '../../../infra/operator/queries/users-admin.ts';
import { recordFailure } from '../../../shared/delivery/circuit-breaker.ts';
import { deliver as deliverNow } from '../../../shared/delivery/deliver.ts';
import type { Conversation } from '../../../shared/messaging/events.ts';
import { readHead, scheduleRetry } from '../../../shared/messaging/outbox.ts';
import { sendFromPlatform } from '../../../shared/messaging/platform-messages.ts';
import { receiveMessage } from '../../../shared/messaging/receive.ts';
import { sendMessage } from '../../../shared/messaging/send.ts';
import { recordAnswer } from '../../../shared/profilers/answers.ts';
import { createProfiler, deleteProfiler } from '../../../shared/profilers/profilers.ts';
import { countEntries } from '../../../shared/stats/job-counters.ts';
import { removeUser } from '../../../shared/user-data/erasure.ts';
import { answerRequest, startRequest } from '../../../shared/user-data/requests.ts';
import { updateUser } from '../../../shared/users/users.ts';
import { newPhone } from '../support/world.ts';
import { context, type Scenario } from './scenario.ts';
import { itemsInTable } from './table.ts';
import { entriesOfLog, newBusiness, newUser, posts, textTo } from './world.ts';

const MINUTE = 60_000;

/** Calls the handler `deliver` with an event of the queue. */
const wakeUp = (conversation: Conversation) => () =>
  deliver({ Records: [{ body: JSON.stringify(conversation), receiptHandle: 'handle' }] } as SQSEvent, context);

/** Runs `work` with a clock that is so many minutes behind. */
const minutesAgo = async (minutes: number, work: () => Promise<void>): Promise<void> => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - minutes * MINUTE });
  try {
    await work();
  } finally {
    vi.useRealTimers();
  }
};

export const workers = {
  'deliver, to a user': {
    prepare: async () => {
      const { account, phone } = await newBusiness();
      for (const _ of ['one', 'two']) await sendMessage(account, textTo(phone), {});
      return wakeUp({ direction: 'app', account, phone });
    },
  },
  'deliver, to a chat platform that receives each status once': {
    prepare: async () => {
      const { account, bot, phone } = await newBusiness({ name: 'rapidpro', settings: { url: posts.url } });
      for (const body of ['one', 'two']) {
        await sendFromPlatform(account, 'rapidpro', { to: phone, type: 'text', text: { body }, reference: '21' });
      }
      await deliverNow({ direction: 'app', account, phone }, () => 60_000);
      await receiveMessage('event-1', { from: phone, ...textTo(bot) });
      return wakeUp({ direction: 'platform', account, phone });
    },
  },
  'deliver, again after a failure': {
    prepare: async () => {
      const { account, phone } = await newBusiness();
      const conversation: Conversation = { direction: 'app', account, phone };
      await sendMessage(account, textTo(phone), {});
      const head = await readHead(conversation);
      const why = { until: Date.now() - 1, since: head?.created ?? '', cause: 'timeout', attempts: 1 };
      if (head) await scheduleRetry(head, why);
      await recordFailure('app', 'closed');
      return wakeUp(conversation);
    },
  },
  count: {
    prepare: async () => {
      const { account, bot, phone } = await newBusiness();
      for (const _ of ['one', 'two', 'three']) await sendMessage(account, textTo(phone), {});
      await receiveMessage('event-1', { from: phone, ...textTo(bot) });
      const Records = (await entriesOfLog()).map((item) => ({ dynamodb: { NewImage: marshall(item) } }));
      return () => count({ Records } as DynamoDBStreamEvent, context);
    },
  },
  relay: {
    prepare: async () => {
      const { account, phone } = await newBusiness();
      // More messages than a call to the queue may contain.
      for (let left = 11; left > 0; left -= 1) await sendMessage(account, textTo(phone), {});
      const entries = (await itemsInTable()).filter(({ sk }) => sk.startsWith('ENTRY#'));
      const Records = entries.map(({ pk, sk }) => ({ dynamodb: { Keys: marshall({ pk, sk }) } }));
      return () => relay({ Records } as DynamoDBStreamEvent, context);
    },
    readsOnly: true,
    continues: true,
  },
  sweep: {
    prepare: async () => {
      const { account, phone } = await newBusiness();
      for (const to of [phone, newPhone()]) await sendMessage(account, textTo(to), {});
      const { id, options } = await createProfiler(account, { question: 'Well?', options: ['yes', 'no'] });
      for (const _ of ['one', 'two']) {
        const phone_number = newPhone();
        await registerUser({ phone_number, panelist: true });
        await recordAnswer(account, { profiler_id: id, option_id: options[0]?.id ?? '', phone_number });
      }
      await deleteProfiler(account, id);
      const time = new Date(Date.now() + 2 * MINUTE).toISOString();
      return () => sweep({ time }, context);
    },
    continues: true,
  },
  erase: {
    prepare: async () => {
      await minutesAgo(3, async () => {
        const { account, bot } = await newBusiness();
        const phone = await newUser();
        await updateUser('event-1', { phone_number: phone, panelist: true });
        const { id, options } = await createProfiler(account, { question: 'Well?', options: ['yes', 'no'] });
        await recordAnswer(account, { profiler_id: id, option_id: options[0]?.id ?? '', phone_number: phone });
        const data = [{ property: 'first_name' as const, required: false }];
        const request = await startRequest(account, phone, { reason: 'Why not?', data }, undefined);
        await answerRequest(request.id, { first_name: 'approved' });
        await sendMessage(account, textTo(phone), {});
        await receiveMessage('event-2', { from: phone, ...textTo(bot) });
        await removeUser('event-3', phone);
      });
      return () => erase({}, context);
    },
    inTurn: true,
    continues: true,
  },
  'operator job recount': {
    prepare: async () => {
      const { account, phone } = await newBusiness();
      for (const _ of ['one', 'two', 'three']) await sendMessage(account, textTo(phone), {});
      await countEntries((await entriesOfLog()).slice(1));
      const day = (offset: number) => new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10);
      const [from, to] = [day(-1), day(1)];
      return async () => (await recountJobs(account, from, to)).entries;
    },
    isCommand: true,
  },
  'operator outbox retry': {
    prepare: async () => {
      const { account, phone } = await newBusiness();
      const conversation: Conversation = { direction: 'app', account, phone };
      await sendMessage(account, textTo(phone), {});
      const head = await readHead(conversation);
      const why = { until: Date.now() + MINUTE, since: head?.created ?? '', cause: 'timeout', attempts: 1 };
      if (head) await scheduleRetry(head, why);
      await recordFailure('app', 'closed');
      return () => retryConversations({ account });
    },
    isCommand: true,
  },
} satisfies Record<string, Scenario>;
