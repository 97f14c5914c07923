/**
 * The cost of requests and messages at list prices, itemised, up to a billion messages a month. It is computed from the
 * measurements of `usage.ts`, the prices of `prices.ts`, and the assumptions of `bill.ts` and this file.
 */

import type { Endpoint } from '../../shared/api/endpoint.ts';
import { api, type EndpointName } from '../../shared/api/index.ts';
import { CHUNK } from '../../shared/stats/job-counters.ts';
import {
  ASSUMED,
  add,
  type Bill,
  billOf,
  ITEMS,
  invocationOf,
  MONTH,
  messageBytes,
  perMillion,
  requestThroughGateway,
  stepLines,
  times,
} from './bill.ts';
import { COUNT_SECONDS, countWrites, STATES } from './growth/design.ts';
import { costOf, listPriceOf, type Priced } from './prices.ts';
import { type Figure, report } from './report.ts';
import { measureUsage, type Way } from './usage.ts';

/** A campaign: one request. */
const CAMPAIGN = {
  recipients: 10_000,
  /** Write units for its chunks and its batch, and for the removal of the chunks. A test bounds the first part by 320. */
  write: 400,
  /** The part of a write for the progress that a message causes. */
  progress: 1 / 25,
  /** Messages per second at the default pace, and looks at the queue per second. */
  rate: 500,
  looks: 4,
  /** Entries that are counted together, and records that `relay` receives; milliseconds of these invocations. */
  count: { entries: CHUNK, ms: COUNT_SECONDS * 1_000 },
  relay: { records: 25, ms: 25 },
  /** Wake-ups that a request to the queue has at most ("SendMessageBatch", Amazon SQS API Reference): AWS bills requests. */
  together: 10,
  /** How much longer the request takes than one for a message: `npm run bench -- campaigns`. */
  slower: 8,
};

const callOfBucket = (name: EndpointName): Bill => {
  const { bucket }: Endpoint = api[name];
  return bucket === undefined ? {} : { [bucket === 'PutObject' ? 'objectPut' : 'objectGet']: 1 };
};

const { endpoints, authorizer, message } = await measureUsage();

const itemised = (bill: Bill): Figure[] =>
  Object.entries(ITEMS).map(([item, parts]) => ({
    what: `  ${item}`,
    value: perMillion(Object.fromEntries(parts.map((part) => [part, bill[part] ?? 0]))),
    unit: 'US$',
  }));

/** The path of a message, with two separate state reports. */
const messageBill = billOf(message);

const usedBy = (name: string) => {
  const use = message.get(name);
  if (use === undefined) throw new Error(`Nothing was measured of ${name}.`);
  return use;
};

/**
 * A message of a campaign: `expand` writes what a request writes for one, its entries are counted in full batches, and
 * `relay` receives several entries at once.
 */
const recipientBill = (): Bill => {
  const { recipients, write, progress, rate, looks, count, relay, together } = CAMPAIGN;
  const sent = usedBy('sendMessage');
  const { sendMessage: _, ...others } = Object.fromEntries(message);
  const counting = {
    ...usedBy('count'),
    invocations: STATES / count.entries,
    ms: count.ms,
    writes: (countWrites(count.entries, STATES) / count.entries) * STATES,
  };
  const relaying = { ...usedBy('relay'), invocations: 1 / relay.records, ms: relay.ms };
  const way: Way = new Map(Object.entries({ ...others, count: counting, relay: relaying }));
  return add(
    billOf(way),
    {
      // The opt-out of each recipient, and the account and the job for each progress.
      readUnit: 0.5 + 2 * progress,
      writeUnit: sent.writes + sent.indexes + progress + write / recipients,
      gigabyteSecond: ASSUMED.memory / rate,
      // In `billOf`, each wake-up is a request.
      queueRequest: looks / rate + Math.ceil(relay.records / together) / relay.records - 1,
    },
    times(1 / recipients, add(requestThroughGateway, invocationOf({ ...sent, ms: sent.ms * CAMPAIGN.slower }))),
  );
};

/** The bill of a month without traffic. */
const idle: Bill = add(
  {
    secret: 2,
    alarm: ASSUMED.alarms,
    metric: ASSUMED.metrics.idle,
    queueRequest: ASSUMED.emptyReceives,
    readUnit: MONTH.minutes * ASSUMED.minuteReads,
  },
  times(2 * MONTH.minutes, invocationOf({ calls: 0, reads: 0, writes: 0, indexes: 0, ms: 10 })),
);

const monthOf = (messages: number): Bill => {
  const asked = messages === 0 ? 0 : Math.min(ASSUMED.tokens * MONTH.minutes, messages * 3);
  const more = messages === 0 ? 0 : ASSUMED.metrics.busy - ASSUMED.metrics.idle;
  return add(idle, { metric: more }, times(messages, messageBill), times(asked, invocationOf(authorizer)));
};

const costOfMonth = (messages: number): number =>
  Object.entries(monthOf(messages)).reduce((total, [what, amount]) => total + costOf(what as Priced, amount), 0);

report('cost at list prices', [
  ...[...endpoints].map(([name, use]) => ({
    what: `a million requests, ${name}`,
    value: perMillion(add(invocationOf(use), requestThroughGateway, callOfBucket(name))),
    unit: 'US$',
  })),
  { what: 'a million times, the authorizer', value: perMillion(invocationOf(authorizer)), unit: 'US$' },
  { what: 'a million messages, all in all', value: perMillion(messageBill), unit: 'US$' },
  ...itemised(messageBill),
  { what: 'a million messages in campaigns of 10,000', value: perMillion(recipientBill()), unit: 'US$' },
  ...itemised(recipientBill()),
  { what: '  log lines of them that logSampling 10 saves', value: perMillion(stepLines) * (1 - 1 / 10), unit: 'US$' },
  {
    what: '  a campaign of 10,000',
    value: (perMillion(recipientBill()) * CAMPAIGN.recipients) / 1e6,
    unit: 'US$',
  },
  {
    what: '  of it, counting each entry alone',
    value: 1e6 * listPriceOf('writeUnit') * (message.get('count')?.writes ?? 0),
    unit: 'US$',
  },
  { what: 'bytes that stay of a message for 90 days, in the table', value: messageBytes().table, unit: 'B' },
  { what: '  in indexes', value: messageBytes().indexes, unit: 'B' },
  { what: 'a month without traffic', value: costOfMonth(0), unit: 'US$' },
  ...[1e6, 1e7, 1e8, 1e9].flatMap((messages) => [
    { what: `a month of ${messages / 1e6} million messages`, value: costOfMonth(messages), unit: 'US$' },
    { what: '  for each million', value: costOfMonth(messages) / (messages / 1e6), unit: 'US$' },
  ]),
]);
