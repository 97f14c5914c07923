/** Requests of messages. */
import { randomUUID } from 'node:crypto';
import type { messages } from '../../../shared/api/areas/messages.ts';
import { chunksOfBatch } from '../../../shared/campaigns/chunks.ts';
import { batchKey, chunkKey } from '../../../shared/campaigns/entities.ts';
import { messageIdAt, newBatchId } from '../../../shared/campaigns/ids.ts';
import { now, sortableTime, timestamp } from '../../../shared/core/clock.ts';
import { newUnguessableId } from '../../../shared/core/ids.ts';
import { upload } from '../../../shared/media/uploads.ts';
import { sendMessage } from '../../../shared/messaging/send.ts';
import { put } from '../../../shared/table/client.ts';
import { textTo } from '../in-process/failing-calls/world.ts';
import { fileOf, png } from '../support/files.ts';
import { newMedia, newPhone, newPhones } from '../support/world.ts';
import { CONTENT, consistent, eventual, inTransaction } from './kilobytes.ts';
import type { Scenarios } from './scenarios.ts';
import { DAY_MS, JOB, key, longest, longestContent, longestKey, MAX_TEXT, scaled } from './world.ts';

/** One more than are accepted at once: they are expanded later, as 10,000 are. */
const RECIPIENTS = 26;

/** KB of a batch, besides its content: its chunks have at most 10,000 positions. */
const BATCH = 2;
/** What a forecast reads of 100 pending batches, besides a contact and an opt-out of each number. */
const PENDING = 100 * (0.5 + eventual(CONTENT + BATCH));

/** The sums of a forecast: its plan and its end contain the time. */
const sumsOf = (body: unknown): unknown => ({ ...Object(body), plan: undefined, estimated_end: undefined });

export const messagesScenarios: Scenarios<typeof messages> = {
  sendMessage: {
    calls: {
      'a text': {
        prepare: async ({ phone }) => ({ headers: key, body: textTo(phone) }),
      },
      'an image after a pending message': {
        prepare: async ({ account, phone }) => {
          await sendMessage(account, textTo(phone), {});
          const { url } = await upload(account, 'image', fileOf(png));
          return { headers: key, body: { to: phone, type: 'image', image: { url } } };
        },
      },
      'a text with a job, which is valid for a limited time': {
        prepare: async ({ phone }) => {
          const body = { ...textTo(phone), valid_for: 60 };
          return { headers: key, query: { job_id: JOB }, body };
        },
        // The job, and the message.
        parts: 2,
      },
      'a text with sending hours': {
        prepare: async ({ phone }) => {
          const body = { ...textTo(phone), between: ['08:00', '20:00'], time_zone: 'Africa/Johannesburg' };
          return { headers: key, body };
        },
      },
      'a text to many': {
        prepare: async ({ phone }) => ({ headers: key, body: { ...textTo(phone), to: [phone, newPhone()] } }),
      },
      'a text to many, with a low priority': {
        prepare: async ({ phone }) => {
          const body = { ...textTo(phone), to: [phone, newPhone()], priority: 'low' };
          return { headers: key, body };
        },
      },
      'a forecast': {
        chargesOnly: true,
        prepare: async ({ phone }) => ({ body: { ...textTo(phone), to: [phone, newPhone()], dry_run: true } }),
        shown: sumsOf,
      },
    },
    max: {
      read: 10_000 + PENDING + 6,
      write: 25 * (inTransaction(CONTENT) + 12) + 40,
      // Each is put into the outbox, and removed from it.
      later: { read: 10_000 * 40, write: 10_000 * (2 * inTransaction(CONTENT) + 60), of: '33 KB to 10,000 users' },
      of: '33 KB to 25 users',
    },
    worst: [
      {
        prepare: async () => ({ body: { ...longestContent(), to: newPhones(10_000), dry_run: true } }),
      },
      {
        // As many as are accepted at once: 25 users, and less than 1 MB.
        prepare: async () => {
          const body = { ...longestContent(), to: newPhones(25), valid_for: 60 };
          return { headers: longestKey, query: { job_id: randomUUID() }, body };
        },
        beyond: ({ body }) => ({ body: { ...(body as object), text: { body: longest(MAX_TEXT + 1) } } }),
      },
      {
        prepare: async ({ account }) => {
          const url = `https://bridge.example.com/media/${await newMedia(account)}`;
          const body = { ...longestContent(), type: 'image', image: { url }, to: newPhones(10_000), valid_for: 60 };
          return { headers: longestKey, query: { job_id: randomUUID() }, body };
        },
        beyond: ({ body }) => ({ body: { ...(body as object), to: newPhones(10_001) } }),
        later: {
          prepare: async () => {
            const phones = newPhones(RECIPIENTS);
            return {
              phones,
              query: { job_id: randomUUID() },
              body: { ...longestContent(), to: phones, valid_for: 60 },
            };
          },
          times: 10_000 / RECIPIENTS,
        },
      },
    ],
  },
  sendMessages: {
    calls: {
      alone: {
        prepare: async ({ account, phone }) => {
          const { url } = await upload(account, 'image', fileOf(png));
          const image = { to: newPhone(), type: 'image', image: { url } };
          return { headers: key, body: [textTo(phone), image] };
        },
      },
      'with a low priority': {
        prepare: async ({ phone }) => {
          const body = [phone, newPhone()].map((to) => ({ ...textTo(to), priority: 'low' }));
          return { headers: key, body };
        },
      },
    },
    max: {
      read: 1_000 + 1_000 + PENDING + 32,
      write: 6_000 + 40,
      later: { read: 1_000 * 40, write: 1_000 * (2 * inTransaction(6) + 60), of: '1,000 messages of 6 KB' },
      of: '6 MB of messages; 1,000 files',
    },
    worst: [
      {
        // A body has at most 6 MB: 170 of the longest messages.
        prepare: async () => {
          const body = newPhones(170).map((to) => ({ ...longestContent(), to, valid_for: 60 }));
          return { headers: longestKey, query: { job_id: randomUUID() }, body };
        },
        beyond: () => ({ body: newPhones(1_001).map((to) => ({ to, type: 'text', text: { body: 'Hi' } })) }),
        // 1,000 messages of a body of 6 MB have 6 KB each.
        later: {
          prepare: async () => {
            const phones = newPhones(RECIPIENTS);
            const text = { body: longest(1_450) };
            const body = phones.map((to) => ({ to, type: 'text', text, valid_for: 60 }));
            return { phones, query: { job_id: randomUUID() }, body };
          },
          times: 1_000 / RECIPIENTS,
        },
      },
      {
        // A tenth of 1,000 messages with files of their own.
        prepare: async ({ account }) => {
          const body = [];
          for (const to of newPhones(100)) {
            const url = `https://bridge.example.com/media/${await newMedia(account)}`;
            body.push({ to, type: 'file', file: { url } });
          }
          return { headers: longestKey, query: { job_id: randomUUID() }, body };
        },
        whole: scaled(10),
      },
    ],
  },
  readMessage: {
    prepare: async ({ account, phone }) => ({ path: { id: await sendMessage(account, textTo(phone), {}) } }),
    readsOnly: true,
    max: { read: 2 + 9 + consistent(300), write: 0, of: 'scheduled, in a chunk of 300 KB' },
    worst: {
      // A scheduled message of a full chunk.
      prepare: async ({ account }) => {
        const batch = newBatchId();
        const upload_id = newUnguessableId();
        const messages = newPhones(8).map((to) => ({ to, content: longestContent() }));
        const [chunk] = chunksOfBatch(messages);
        if (chunk === undefined) throw new Error('There is no chunk.');
        await put({ ...chunkKey(upload_id, 0), account, created: timestamp(), ...chunk });
        await put({
          ...batchKey(account, batch),
          ...{ id: batch, account, job_id: randomUUID(), priority: 'low', content: longestContent(), recipients: 8 },
          ...{ upload: upload_id, chunks: [0], created: timestamp(), due: sortableTime(now() + DAY_MS) },
        });
        return { path: { id: messageIdAt(batch, 0) } };
      },
    },
  },
};
