/**
 * Simulates DynamoDB's transaction conflicts: while a transaction is in progress, other writes of its items are
 * rejected. No local database does this.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { vi } from 'vitest';
import { documents } from '../../../shared/table/client.ts';
import type { Key } from '../../../shared/table/keys.ts';
import { rejection } from './rejection.ts';

interface Input {
  Key?: Key;
  Item?: Key;
  TransactItems?: Record<string, Input>[];
}

const nameOf = ({ Key, Item }: Input): string => `${(Key ?? Item)?.pk} ${(Key ?? Item)?.sk}`;

const PLAIN = ['PutCommand', 'UpdateCommand', 'DeleteCommand'];

/** Holds the items of each transaction for some milliseconds, until mocks are restored. Returns live counts. */
export const holdItems = (milliseconds: number): { calls: number; conflicts: number } => {
  const counted = { calls: 0, conflicts: 0 };
  const held = new Map<string, number>();
  const send = documents.send.bind(documents);
  const hold = async <Result>(names: string[], work: () => Promise<Result>): Promise<Result> => {
    for (const name of names) held.set(name, (held.get(name) ?? 0) + 1);
    try {
      await pause(milliseconds);
      return await work();
    } finally {
      for (const name of names) {
        const left = (held.get(name) ?? 0) - 1;
        if (left > 0) held.set(name, left);
        else held.delete(name);
      }
    }
  };
  const isHeld = (name: string): boolean => held.has(name);

  vi.spyOn(documents, 'send').mockImplementation(async (command: { input: object }) => {
    counted.calls += 1;
    const go = () => send(command as Parameters<typeof send>[0]);
    const input: Input = command.input;
    const { TransactItems } = input;
    if (TransactItems) {
      const names = TransactItems.flatMap((item) => Object.values(item).map(nameOf));
      if (!names.some(isHeld)) return hold(names, go);
      counted.conflicts += 1;
      throw rejection('TransactionCanceledException', {
        CancellationReasons: names.map((name) => ({ Code: isHeld(name) ? 'TransactionConflict' : 'None' })),
      });
    }
    if (PLAIN.includes(command.constructor.name) && isHeld(nameOf(input))) {
      counted.conflicts += 1;
      throw rejection('TransactionConflictException');
    }
    return go();
  });
  return counted;
};
