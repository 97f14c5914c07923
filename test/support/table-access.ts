/** How each function touches the table, by the beginning of its logical ids in the template. */

import {
  type AccessPattern,
  accessPatterns,
  type TableAccess,
  transactions,
} from '../../shared/api/access-patterns.ts';
import { accessOf } from '../../shared/api/endpoint.ts';
import { api } from '../../shared/api/index.ts';
import { workers } from '../../shared/api/workers.ts';

interface FunctionAccess {
  id: string;
  access: readonly TableAccess[];
}

const idOf = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

export const functionAccess: FunctionAccess[] = [
  ...Object.entries(api).map(([name, endpoint]) => ({ id: idOf(name), access: accessOf(endpoint) })),
  ...Object.entries(workers).map(([name, { table }]) => ({ id: idOf(name), access: table })),
];

/** The access patterns that a function names, alone or within transactions. */
export const patternsNamed = (access: readonly TableAccess[]): AccessPattern[] => {
  const all: Record<string, readonly string[]> = transactions;
  const single: Record<string, AccessPattern> = accessPatterns;
  return access.flatMap((name) => all[name] ?? [name]).flatMap((name) => single[name] ?? []);
};
