/** Scenarios of the workers and of the operator's repair commands, each with pending work. */

import { randomUUID } from 'node:crypto';
import { marshall } from '@aws-sdk/util-dynamodb';
import type { DynamoDBStreamEvent, SQSEvent } from 'aws-lambda';
import { vi } from 'vitest';
import { handler as count } from '../../../../functions/workers/count.ts';
import { handler as deliver } from '../../../../functions/workers/deliver.ts';
import { handler as erase } from '../../../../functions/workers/erase.ts';
import { handler as expand } from '../../../../functions/workers/expand.ts';
import { handler as relay } from '../../../../functions/workers/relay.ts';
import { handler as sweep } from '../../../../functions/workers/sweep.ts';
import { recountJobs } from '../../../../infra/operator/queries/job-recount.ts';
import { retryConversations } from '../../../../infra/operator/queries/outbox-inspection.ts';
import { registerUser } from '../../../../infra/operator/queries/users-admin.ts';
import { sweepSteps } from '../../../../shared/api/workers.ts';
import { sendEach, sendToMany } from '../../../../shared/campaigns/accept.ts';
import { breakerOf } from '../../../../shared/delivery/breaker.ts';
import { deliver as deliverNow } from '../../../../shared/delivery/deliver.ts';
import { cancelJob } from '../../../../shared/messaging/jobs/cancel.ts';
import { changeOptOut } from '../../../../shared/messaging/opt-outs/changes.ts';
import { sendFromPlatform } from '../../../../shared/messaging/platform-messages.ts';
import { receiveMessage } from '../../../../shared/messaging/receive.ts';
import { sendMessage } from '../../../../shared/messaging/send.ts';
import { named } from '../../../../shared/outbox/entities.ts';
import type { Conversation } from '../../../../shared/outbox/event.ts';
import { readHead, scheduleRetry } from '../../../../shared/outbox/head.ts';
import type { Ends } from '../../../../shared/outbox/wake-ups/conversations.ts';
import { recordAnswer } from '../../../../shared/profilers/answers.ts';
import { createProfiler, deleteProfiler } from '../../../../shared/profilers/profilers.ts';
import { countAnswers } from '../../../../shared/profilers/results.ts';
import { countEntries } from '../../../../shared/stats/job-counters.ts';
import { removeUser, resumeErasures } from '../../../../shared/user-data/erasure.ts';
import { startRequest } from '../../../../shared/user-data/requests.ts';
import { updateUser } from '../../../../shared/users/users.ts';
import { itemsIn } from '../../support/whole-table.ts';
import { newPhone } from '../../support/world.ts';
import { context, type Scenario } from './scenario.ts';
import { addUserData, answersInTable, entriesOfLog, minutesAgo, newBusiness, newUser, posts, textTo } from './world.ts';

const MINUTE = 60_000;

/** Does work at a time. Repetitions must be at the same one: the names of wake-ups contain it. */
const at = async (time: number, work: () => Promise<unknown>): Promise<unknown> => {
  vi.useFakeTimers({ toFake: ['Date'], now: time });
  try {
    return await work();
  } finally {
    vi.useRealTimers();
  }
};

/** Calls the handler `deliver` with an event of the queue: a wake-up of a conversation for each of `ends`. */
const wakeUp =
  (conversation: Conversation, ends: Ends[] = [{}]) =>
  () => {
    const Records = ends.map((each) => ({
      body: JSON.stringify({ ...named(conversation), ...each }),
      receiptHandle: 'handle',
      attributes: { MessageGroupId: 'group' },
    }));
    return deliver({ Records } as SQSEvent, context);
  };

/** Schedules a retry of the conversation's first entry, as after a failed attempt. */
const scheduleRetryOf = async (conversation: Conversation, until: number, failed = ''): Promise<void> => {
  const head = await readHead(conversation);
  const why = { until, since: head?.created ?? '', failed, cause: 'timeout', attempts: 1 };
  if (head) await scheduleRetry(head, why);
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
      const { account, phone } = await newBusiness({ name: 'rapidpro', settings: { url: posts.url } });
      for (const body of ['one', 'two']) {
        await sendFromPlatform(account, 'rapidpro', { to: phone, type: 'text', text: { body }, reference: '21' });
      }
      await deliverNow({ direction: 'app', account, phone }, () => 60_000);
      return wakeUp({ direction: 'platform', account, phone, reports: true });
    },
  },
  'deliver, to a chat platform that takes an equal text for a repeat': {
    prepare: async () => {
      const { account, bot, phone } = await newBusiness({ name: 'rapidpro', settings: { url: posts.url } });
      await receiveMessage('event-1', { from: phone, ...textTo(bot) });
      return wakeUp({ direction: 'platform', account, phone });
    },
  },
  'deliver, to a webhook, with its history': {
    prepare: async () => {
      const { account, bot, phone } = await newBusiness();
      for (const event of ['event-1', 'event-2']) await receiveMessage(event, { from: phone, ...textTo(bot) });
      return wakeUp({ direction: 'platform', account, phone });
    },
  },
  'deliver, to a user, beside a conversation in which nothing is pending': {
    prepare: async () => {
      const { account, phone } = await newBusiness();
      for (const _ of ['one', 'two']) await sendMessage(account, textTo(phone), {});
      const Records = [phone, newPhone()].map((to) => ({
        body: JSON.stringify(named({ direction: 'app', account, phone: to })),
        receiptHandle: to,
        attributes: { MessageGroupId: to },
      }));
      return () => deliver({ Records } as SQSEvent, context);
    },
  },
  'deliver, again after a failure': {
    prepare: async () => {
      const { account, phone } = await newBusiness();
      const conversation: Conversation = { direction: 'app', account, phone };
      await sendMessage(account, textTo(phone), {});
      await scheduleRetryOf(conversation, Date.now() - 1);
      await breakerOf(conversation).recordFailure('closed');
      return wakeUp(conversation);
    },
  },
  'deliver, to a user who has stopped the business': {
    prepare: async () => {
      const { account, phone } = await newBusiness();
      for (const _ of ['one', 'two']) await sendMessage(account, textTo(phone), {});
      await changeOptOut({ event: 'event-1', account, phone, state: 'stopped' });
      return wakeUp({ direction: 'app', account, phone });
    },
  },
  'deliver, while no attempt is made: a cancelled message, one whose time is over, and another one': {
    prepare: async () => {
      const { account, phone } = await newBusiness();
      const conversation: Conversation = { direction: 'app', account, phone };
      const job_id = randomUUID();
      await minutesAgo(3, async () => void (await sendMessage(account, textTo(phone), { valid_for: 60 })));
      await sendMessage(account, textTo(phone), { job_id });
      await sendMessage(account, textTo(phone), {});
      await cancelJob(account, job_id);
      await scheduleRetryOf(conversation, Date.now() + MINUTE, 'the first');
      const ended = (await itemsIn()).filter(({ sk, gsi1pk }) => sk.startsWith('ENTRY#') && gsi1pk !== undefined);
      // As `sweep` wakes it for messages whose time is over, and `expand` for those of a cancelled job.
      return wakeUp(conversation, [{ ended: ended.map(({ sk }) => sk) }, { cancelled: true }]);
    },
  },
  expand: {
    prepare: async () => {
      const { account, phone } = await newBusiness();
      const stopped = newPhone();
      const drafts = [phone, stopped, newPhone(), phone].map(textTo);
      await changeOptOut({ event: 'event-1', account, phone: stopped, state: 'stopped' });
      await sendEach(account, drafts, { priority: 'low' });
      const body = JSON.stringify({ account, at: Date.now() });
      return () => expand({ Records: [{ body, receiptHandle: 'handle' }] } as SQSEvent, context);
    },
    // Messages to several users are accepted at the same time.
    continues: true,
  },
  'expand, of a cancelled job': {
    prepare: async () => {
      const { account, phone } = await newBusiness();
      const job_id = randomUUID();
      // Longer ago than a pass over the batches may miss one: so it does not matter how long all faults take.
      await minutesAgo(3, async () => {
        await sendMessage(account, textTo(phone), { job_id });
        await sendEach(account, [newPhone(), newPhone()].map(textTo), { job_id, send_at: Date.now() + 60 * MINUTE });
        await cancelJob(account, job_id);
      });
      const time = Date.now();
      const body = JSON.stringify({ account, at: time });
      return () => at(time, () => expand({ Records: [{ body, receiptHandle: 'handle' }] } as SQSEvent, context));
    },
    continues: true,
  },
  count: {
    prepare: async () => {
      const { account, bot, phone } = await newBusiness();
      for (const _ of ['one', 'two', 'three']) await sendMessage(account, textTo(phone), {});
      await receiveMessage('event-1', { from: phone, ...textTo(bot) });
      const { id, options } = await createProfiler(account, { question: 'Well?', options: ['yes', 'no'] });
      for (const { id: option_id } of options) {
        const phone_number = newPhone();
        await registerUser({ phone_number, panelist: true });
        await recordAnswer(account, { profiler_id: id, option_id, phone_number });
      }
      const images = [...(await entriesOfLog()), ...(await answersInTable())];
      const Records = images.map((item) => ({ dynamodb: { NewImage: marshall(item) } }));
      return () => count({ Records } as DynamoDBStreamEvent, context);
    },
    // Entries are marked at the same time.
    continues: true,
  },
  relay: {
    prepare: async () => {
      const { account, phone } = await newBusiness();
      // More messages than a call to the queue may contain.
      for (let left = 11; left > 0; left -= 1) await sendMessage(account, textTo(phone), {});
      await sendEach(account, [textTo(phone)], { priority: 'low' });
      const entries = (await itemsIn()).filter(({ sk }) => sk.startsWith('ENTRY#') || sk === 'BATCH');
      const Records = entries.map(({ pk, sk }) => ({ dynamodb: { Keys: marshall({ pk, sk }) } }));
      return () => relay({ Records } as DynamoDBStreamEvent, context);
    },
    sendsOnly: true,
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
      await sendEach(account, [textTo(phone)], { priority: 'low' });
      await sendMessage(account, textTo(newPhone()), { valid_for: 60 });
      // In two minutes, everything is due.
      const time = Date.now() + 2 * MINUTE;
      return () =>
        at(time, async () => {
          for (const step of sweepSteps) await sweep({ step }, context);
        });
    },
    inTurn: true,
    continues: true,
  },
  erase: {
    prepare: async () => {
      await minutesAgo(3, async () => {
        const { account, bot } = await newBusiness();
        const phone = await newUser();
        await updateUser('event-1', { phone_number: phone, panelist: true });
        await addUserData(account, phone);
        await countAnswers(await answersInTable());
        await sendEach(account, [phone, newPhone()].map(textTo), { priority: 'low' });
        await receiveMessage('event-2', { from: phone, ...textTo(bot) });
        await removeUser('event-3', phone);
      });
      return () => erase({ step: 'erasures' }, context);
    },
    inTurn: true,
    continues: true,
  },
  'erase: recipients of pending batches': {
    prepare: async () => {
      await minutesAgo(3, async () => {
        const { account } = await newBusiness();
        const [phone, other] = [newPhone(), newPhone()];
        await sendEach(account, [phone, other].map(textTo), { priority: 'low' });
        await sendToMany(account, { ...textTo(phone), to: [phone] }, { priority: 'low' });
        await removeUser('event-1', phone);
      });
      await resumeErasures(() => false);
      return () => erase({ step: 'batches' }, context);
    },
    continues: true,
    inTurn: true,
  },
  'erase: consents that have expired': {
    prepare: async () => {
      await minutesAgo(1_441, async () => {
        const { account } = await newBusiness();
        for (const phone of [await newUser(), await newUser()]) {
          const data = [{ property: 'device_make' as const, required: false }];
          await startRequest(account, phone, { reason: 'Why not?', data, valid_days: 1 }, undefined);
        }
      });
      return () => erase({ step: 'consents' }, context);
    },
    continues: true,
  },
  'operator job recount': {
    prepare: async () => {
      const { account, phone } = await newBusiness();
      for (const _ of ['one', 'two', 'three', 'four']) await sendMessage(account, textTo(phone), {});
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
      await scheduleRetryOf(conversation, Date.now() + MINUTE);
      await breakerOf(conversation).recordFailure('closed');
      return () => retryConversations({ account });
    },
    isCommand: true,
  },
} satisfies Record<string, Scenario>;
