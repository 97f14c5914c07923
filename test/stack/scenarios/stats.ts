/** Requests of statistics and jobs. */

import { randomUUID } from 'node:crypto';
import type { jobs, stats } from '../../../shared/api/areas/stats.ts';
import { secondsFromNow, timestamp, timestampOf } from '../../../shared/core/clock.ts';
import { newId } from '../../../shared/core/ids.ts';
import { openJob } from '../../../shared/messaging/jobs/job.ts';
import { sendMessage } from '../../../shared/messaging/send.ts';
import { logItem, states } from '../../../shared/outbox/message.ts';
import { jobCounterKey } from '../../../shared/stats/entities.ts';
import { countEntries } from '../../../shared/stats/job-counters.ts';
import { quarters } from '../../../shared/stats/quarters.ts';
import { putAll } from '../../../shared/table/client.ts';
import { lifetime } from '../../support/lifetime.ts';
import { entriesOfLog, textTo } from '../in-process/failing-calls/world.ts';
import { newPhone } from '../support/world.ts';
import { eventual, JOB_COUNTER, JOB_ITEM, LOGGED, PAGE } from './kilobytes.ts';
import type { Scenarios } from './scenarios.ts';
import { JOB, longest } from './world.ts';

const dayFromNow = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

/** Yesterday to tomorrow, so that a run across midnight is included. */
const EVER = { start_date: dayFromNow(-1), end_date: dayFromNow(1) };

export const statsScenarios: Scenarios<typeof stats> = {
  listLogs: {
    calls: {
      'of one state': {
        prepare: async ({ account, phone }) => {
          await sendMessage(account, textTo(phone), {});
          return { query: { state: 'sent' } };
        },
        readsOnly: true,
      },
      'of all states': {
        prepare: async ({ account, phone }) => {
          await sendMessage(account, textTo(phone), {});
          return {};
        },
        readsOnly: true,
      },
    },
    max: { read: 8 * eventual(1_002 * LOGGED), write: 0, of: '1,000 entries of any state' },
    worst: {
      // A third of a page of one of eight states, with the longest entries.
      prepare: async ({ account }) => {
        const items = Array.from({ length: 334 }, () => {
          const phone = newPhone().padEnd(15, '0');
          const message = { id: newId(), account, phone, job_id: newId(), payload_type: 'image', ...lifetime };
          return { ...logItem(message, 'reception_failed_http', timestamp()), reason_code: 'bot_number_released' };
        });
        await putAll(items);
        return { query: { limit: '1000' } };
      },
      beyond: () => ({ query: { limit: '1001' } }),
      whole: ({ read, write }) => ({ read: (read - 7 * 0.5) * 3 * 8, write }),
    },
  },
  listJobs: {
    prepare: async ({ account, phone }) => {
      await sendMessage(account, textTo(phone), {});
      await countEntries(await entriesOfLog());
      return { query: EVER };
    },
    readsOnly: true,
    max: { read: 100 * eventual(PAGE), write: 0, of: '100 MB of counters' },
    worst: {
      // A tenth of a page of 1 MB, of which a list reads at most 100.
      prepare: async ({ account }) => {
        const day = timestampOf(Date.now()).slice(0, 10);
        await putAll(
          Array.from({ length: 660 }, () => ({
            ...jobCounterKey(account, {
              day,
              job_id: randomUUID(),
              payload_type: 'image',
              state: 'delivered_to_server',
            }),
            count: 1,
            expires_at: secondsFromNow(86_400),
          })),
        );
        return { query: { start_date: day, end_date: day } };
      },
      whole: ({ read, write }) => ({ read: read * 1_000, write }),
    },
  },
};

export const jobsScenarios: Scenarios<typeof jobs> = {
  listRecentJobs: {
    prepare: async ({ account, phone }) => {
      await sendMessage(account, textTo(phone), { job_id: JOB });
      return {};
    },
    readsOnly: true,
    max: {
      read: 100 * eventual(JOB_ITEM) + eventual(102 * JOB_ITEM),
      write: 0,
      of: '100 jobs with the longest references',
    },
    worst: {
      prepare: async ({ account }) => {
        for (let count = 0; count < 101; count += 1) await openJob(account, randomUUID(), { reference: longest(64) });
        return { query: { limit: '100' } };
      },
      beyond: () => ({ query: { limit: '101' } }),
    },
  },
  readJob: {
    prepare: async ({ account, phone }) => {
      await sendMessage(account, textTo(phone), { job_id: JOB });
      await countEntries(await entriesOfLog());
      return { path: { job_id: JOB } };
    },
    readsOnly: true,
    max: {
      read: 7 + 402 * eventual(4 * 9 * 16 * JOB_COUNTER),
      write: 0,
      of: 'messages of each type and state on 402 days',
    },
    worst: {
      // The counters of one of 402 days: of each type and state, with all shards.
      prepare: async ({ account }) => {
        const job_id = randomUUID();
        await openJob(account, job_id);
        const day = timestampOf(Date.now()).slice(0, 10);
        const kinds = [...states.map((state) => ({ state })), { state: 'sent', inBatch: true as const }];
        await putAll(
          ['text', 'image', 'file', ''].flatMap((payload_type) =>
            kinds.flatMap((kind) =>
              Array.from({ length: 16 }, (_, shard) => ({
                ...jobCounterKey(account, { day, job_id, payload_type, ...kind }, shard),
                count: kind.state === 'sent' ? 2 : 0,
                ...Object.fromEntries(quarters.map((quarter) => [quarter, 123_456])),
                expires_at: secondsFromNow(86_400),
              })),
            ),
          ),
        );
        return { path: { job_id } };
      },
      whole: ({ read, write }) => ({ read: 7 + (read - 2.5) * 402, write }),
    },
  },
  exportJobLog: {
    prepare: async ({ account, phone }) => {
      await sendMessage(account, textTo(phone), { job_id: JOB });
      return { path: { job_id: JOB, file: 'log.csv' } };
    },
    readsOnly: true,
    max: { read: 30 + 22 * eventual(1_000 * LOGGED), write: 0, of: '20,000 log entries' },
    worst: {
      // A twentieth of a page.
      prepare: async ({ account }) => {
        const job_id = randomUUID();
        await openJob(account, job_id);
        await putAll(
          Array.from({ length: 1_000 }, () => {
            const message = { id: newId(), account, phone: newPhone(), job_id, payload_type: 'image', ...lifetime };
            return logItem(message, 'delivered_to_server', timestamp());
          }),
        );
        return { path: { job_id, file: 'log.csv' } };
      },
      whole: ({ read, write }) => ({ read: read * 20, write }),
    },
  },
  cancelJob: {
    prepare: async ({ account, phone }) => {
      await sendMessage(account, textTo(phone), { job_id: JOB });
      return { path: { job_id: JOB } };
    },
    max: { read: 2, write: 12, of: 'any' },
  },
};
