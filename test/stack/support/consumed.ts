/** Measures the cost of work, in capacity units that the table reports. */
import { documents } from '../../../shared/table/client.ts';

interface Capacity {
  CapacityUnits?: number;
  GlobalSecondaryIndexes?: Record<string, { CapacityUnits?: number }>;
}

/** Consumption: calls, capacity units of the table, those of them that are for writes, and capacity units of its indexes. */
export interface Consumed {
  calls: number;
  table: number;
  written: number;
  indexes: number;
}

const consumed: Consumed = { calls: 0, table: 0, written: 0, indexes: 0 };

/** Read units, and write units, with those of indexes. */
export interface Units {
  read: number;
  write: number;
}

/** As `consumed`. Index writes of transactions, which the database does not report, count as many as they may be. */
const units: Units = { read: 0, write: 0 };

interface TransactItem {
  Put?: { Item?: object };
  Update?: { UpdateExpression?: string };
  Delete?: object;
}

/**
 * The most index entries that a transaction writes. They have less than 1 KB. A changed key is an entry that is removed and
 * one that is put.
 */
const mostIndexWrites = ({ TransactItems = [] }: { TransactItems?: TransactItem[] }): number =>
  TransactItems.reduce((sum, { Put, Update, Delete }) => {
    const put = Object.keys(Put?.Item ?? {}).filter((name) => /^gsi\dpk$/.test(name)).length;
    const changed = new Set(Update?.UpdateExpression?.match(/gsi\d/g)).size;
    return sum + put + 2 * changed + (Delete === undefined ? 0 : 1);
  }, 0);

const send = documents.send.bind(documents) as (...call: unknown[]) => Promise<unknown>;

documents.send = (async (command: { input: { TransactItems?: TransactItem[] } }, ...options: unknown[]) => {
  Object.assign(command.input, { ReturnConsumedCapacity: 'INDEXES' });
  const output = await send(command, ...options);
  const { ConsumedCapacity } = output as { ConsumedCapacity?: Capacity | Capacity[] };
  const isRead = /^(Get|BatchGet|Query)/.test(command.constructor.name);
  for (const { CapacityUnits = 0, GlobalSecondaryIndexes = {} } of [ConsumedCapacity ?? []].flat()) {
    const indexes = Object.values(GlobalSecondaryIndexes).reduce((sum, index) => sum + (index.CapacityUnits ?? 0), 0);
    consumed.table += CapacityUnits - indexes;
    if (!isRead) consumed.written += CapacityUnits - indexes;
    consumed.indexes += indexes;
    units[isRead ? 'read' : 'write'] += CapacityUnits;
  }
  units.write += mostIndexWrites(command.input);
  consumed.calls += 1;
  return output;
}) as typeof documents.send;

/** The consumption of the work that `consumedBy` runs now, until now. */
export const consumedSoFar = (): Consumed => ({ ...consumed });

/** Runs `work` in this process and returns its consumption. */
export const consumedBy = async (work: () => Promise<unknown>): Promise<Consumed> => {
  Object.assign(consumed, { calls: 0, table: 0, written: 0, indexes: 0 });
  await work();
  return { ...consumed };
};

/** Runs `work` in this process and returns the units that it takes at most. */
export const unitsOf = async (work: () => Promise<unknown>): Promise<Units> => {
  Object.assign(units, { read: 0, write: 0 });
  await work();
  return { ...units };
};
