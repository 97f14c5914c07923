/** How each function touches the table, by the beginning of its logical ids in the template. */

import {
  type AccessPattern,
  accessPatterns,
  type TableAccess,
  transactions,
} from '../../shared/api/access-patterns.ts';
import { accessOf, type Endpoint } from '../../shared/api/endpoint.ts';
import { api } from '../../shared/api/index.ts';
import { type Worker, workers } from '../../shared/api/workers.ts';

interface FunctionAccess {
  id: string;
  access: readonly TableAccess[];
  /** Whether it hashes personal data. */
  hashes: boolean;
  /** Whether it is an endpoint that sends wake-ups. */
  wakes: boolean;
}

const idOf = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

export const functionAccess: FunctionAccess[] = [
  ...Object.entries<Endpoint>(api).map(([name, endpoint]) => ({
    id: idOf(name),
    access: accessOf(endpoint),
    hashes: endpoint.hashes === true,
    wakes: endpoint.wakes === true,
  })),
  ...Object.entries<Worker>(workers).map(([name, { table, hashes = false }]) => ({
    id: idOf(name),
    access: table,
    hashes,
    wakes: false,
  })),
];

/** The access patterns that a function names, alone or within transactions. */
export const patternsNamed = (access: readonly TableAccess[]): AccessPattern[] => {
  const all: Record<string, readonly string[]> = transactions;
  const single: Record<string, AccessPattern> = accessPatterns;
  return access.flatMap((name) => all[name] ?? [name]).flatMap((name) => single[name] ?? []);
};
