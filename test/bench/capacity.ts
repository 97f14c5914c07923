/** The cost of requests and of a message's path in capacity units of the table, compared with their budgets. */
import { measured } from './growth/design.ts';
import { type Figure, report } from './report.ts';
import { measureUsage, type Use } from './usage.ts';

/** Maximum read and write units, without indexes. Final decisions depend on strongly consistent reads. */
const BUDGETS: Record<string, { reads: number; writes: number }> = {
  authorizer: { reads: 1, writes: 0 },
  readApiDescription: { reads: 0, writes: 0 },
  createProfiler: { reads: 0, writes: 4 },
  readProfiler: { reads: 1, writes: 0 },
  deleteProfiler: { reads: 0, writes: 6 },
  answerProfiler: { reads: 2.5, writes: 2 },
  answerProfilers: { reads: 3, writes: 2 },
  countAudience: { reads: 2, writes: 1 },
  listAnswers: { reads: 2, writes: 0 },
  readResults: { reads: 1.5, writes: 0 },
  sendMessage: { reads: 1, writes: 6 },
  readMessage: { reads: 1, writes: 0 },
  receiveRapidproMessage: { reads: 1, writes: 6 },
  receiveTurnMessage: { reads: 2, writes: 6 },
  startUserDataRequest: { reads: 4, writes: 12 },
  fetchUserData: { reads: 1, writes: 0 },
  listUserDataRequests: { reads: 1.5, writes: 0 },
  listRecentJobs: { reads: 1, writes: 0 },
  listReceipts: { reads: 2.5, writes: 0 },
  retrieveUserData: { reads: 3, writes: 1 },
  matchContacts: { reads: 1, writes: 1 },
  readUser: { reads: 3, writes: 2 },
  claimDeliveries: { reads: 7, writes: 1 },
  settleDelivery: { reads: 3, writes: 7 },
  readTokenInfo: { reads: 0.5, writes: 0 },
  readConfiguration: { reads: 3, writes: 0 },
  updateAccount: { reads: 1, writes: 8 },
  setAvatar: { reads: 3, writes: 12 },
  readAvatar: { reads: 1, writes: 0 },
};

const figuresOf = (what: string, { reads, writes, indexes }: Use, budget = BUDGETS[what]): Figure[] => [
  { what: `${what}: reads`, value: reads, unit: 'units', ...(budget && { goal: { atMost: budget.reads } }) },
  { what: `${what}: writes`, value: writes, unit: 'units', ...(budget && { goal: { atMost: budget.writes } }) },
  ...(indexes > 0 ? [{ what: `${what}: writes to indexes`, value: indexes, unit: 'units' }] : []),
];

const { endpoints, authorizer, message } = await measureUsage();
const way = [...message].map(([name, use]) => ({ name, use }));
const total = (of: (use: Use) => number): number => way.reduce((sum, { use }) => sum + of(use), 0);
/** How far the simulation of growth is from what was measured now. */
const apart = ({ name, use }: (typeof way)[number]): Figure => {
  const { reads = 0, writes = 0, indexes = 0 } = measured.get(name) ?? {};
  const value = Math.max(Math.abs(reads - use.reads), Math.abs(writes - use.writes), Math.abs(indexes - use.indexes));
  return { what: `${name}: apart from the simulation of growth`, value, unit: 'units', goal: { atMost: 0.1 } };
};

report('capacity', [
  ...figuresOf('authorizer', authorizer),
  ...[...endpoints].flatMap(([name, use]) => figuresOf(name, use)),
  ...way.flatMap(({ name, use }) => [
    ...figuresOf(`a message's way, ${name}`, use),
    { what: `a message's way, ${name}: invocations`, value: use.invocations, unit: 'calls' },
  ]),
  { what: "a message's whole way: reads", value: total(({ reads }) => reads), unit: 'units' },
  { what: 'its writes', value: total(({ writes }) => writes), unit: 'units' },
  { what: 'its writes to indexes', value: total(({ indexes }) => indexes), unit: 'units' },
  ...way.map(apart),
]);
