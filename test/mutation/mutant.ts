/** A mutant, in the form that Stryker's instrumenter, its test runner and its report share. */
export interface MutantOf {
  mutatorName: string;
  replacement?: string;
  /** Why Stryker leaves the mutant out, if it does. */
  statusReason?: string;
  location: { start: Position; end: Position };
}

interface Position {
  line: number;
  column: number;
}

/**
 * Identifies a mutant in all three forms. Paths end with the same `shared/…`. Lines and columns count from 0 in the
 * instrumenter and the runner, and from 1 in the report.
 */
export const identify = (path: string, { mutatorName, replacement, location }: MutantOf, first: 0 | 1): string => {
  const { start, end } = location;
  const place = [start.line, start.column, end.line, end.column].map((count) => count - first);
  return JSON.stringify([path.slice(path.lastIndexOf('shared/')), mutatorName, replacement, ...place]);
};
