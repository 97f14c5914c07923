/** The cost of requests and of a message's path in capacity units of the table, compared with their budgets. */
import { type Figure, report } from './report.ts';
import { measureUsage, type Use } from './usage.ts';

/** Maximum read and write units, without indexes. Final decisions depend on strongly consistent reads. */
const BUDGETS: Record<string, { reads: number; writes: number }> = {
  authorizer: { reads: 0.5, writes: 0 },
  readApiDescription: { reads: 0, writes: 0 },
  createProfiler: { reads: 0, writes: 1 },
  readProfiler: { reads: 1, writes: 0 },
  deleteProfiler: { reads: 0, writes: 1 },
  answerProfiler: { reads: 1.5, writes: 2 },
  sendMessage: { reads: 1, writes: 6 },
  receiveRapidproMessage: { reads: 1, writes: 6 },
  receiveTurnMessage: { reads: 2, writes: 6 },
  startUserDataRequest: { reads: 2, writes: 6 },
  fetchUserData: { reads: 1, writes: 0 },
  retrieveUserData: { reads: 1, writes: 1 },
};

const figuresOf = (what: string, { reads, writes, indexes }: Use, budget = BUDGETS[what]): Figure[] => [
  { what: `${what}: reads`, value: reads, unit: 'units', ...(budget && { goal: { atMost: budget.reads } }) },
  { what: `${what}: writes`, value: writes, unit: 'units', ...(budget && { goal: { atMost: budget.writes } }) },
  ...(indexes > 0 ? [{ what: `${what}: writes to indexes`, value: indexes, unit: 'units' }] : []),
];

const { endpoints, authorizer, message } = await measureUsage();
const way = [...message].map(([name, use]) => ({ name, use }));
const total = (of: (use: Use) => number): number => way.reduce((sum, { use }) => sum + of(use), 0);
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
]);
