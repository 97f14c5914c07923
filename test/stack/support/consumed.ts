/** What a piece of work costs, in capacity units as the table reports them. */
import { documents } from '../../../shared/table/client.ts';

interface Capacity {
  CapacityUnits?: number;
  GlobalSecondaryIndexes?: Record<string, { CapacityUnits?: number }>;
}

/** What one piece of work consumed: calls, units on the table, units on its indexes. */
export interface Consumed {
  calls: number;
  table: number;
  indexes: number;
}

const consumed: Consumed = { calls: 0, table: 0, indexes: 0 };

documents.middlewareStack.add(
  (next, { commandName }) =>
    async (args) => {
      if (commandName === 'ScanCommand') throw new Error('Nothing of the service scans.');
      Object.assign(args.input, { ReturnConsumedCapacity: 'INDEXES' });
      const result = await next(args);
      const { ConsumedCapacity } = result.output as { ConsumedCapacity?: Capacity | Capacity[] };
      for (const { CapacityUnits = 0, GlobalSecondaryIndexes = {} } of [ConsumedCapacity ?? []].flat()) {
        const indexes = Object.values(GlobalSecondaryIndexes).reduce(
          (sum, index) => sum + (index.CapacityUnits ?? 0),
          0,
        );
        consumed.table += CapacityUnits - indexes;
        consumed.indexes += indexes;
      }
      consumed.calls += 1;
      return result;
    },
  { step: 'initialize' },
);

/** What `work` consumes in this process. */
export const consumedBy = async (work: () => Promise<unknown>): Promise<Consumed> => {
  Object.assign(consumed, { calls: 0, table: 0, indexes: 0 });
  await work();
  return { ...consumed };
};
