/**
 * Excuses in the sources: `// Stryker disable next-line MUTATOR,MUTATOR: Reason.` excludes these mutators on the next
 * line. Stryker's instrumenter lists the mutants that a comment excludes, without running them.
 */
import { readFile } from 'node:fs/promises';
import { Instrumenter } from '@stryker-mutator/instrumenter';
import type { MutantOf } from './mutant.ts';

/** A mutator in a comment. */
export interface Excuse {
  file: string;
  /** The excused line, from 1. */
  line: number;
  mutator: string;
  reason: string;
  /** The replacements of the excused mutants. */
  mutants: string[];
}

const FORM = /^\s*(?:[?:] )?\/\/ Stryker disable next-line ([A-Za-z]+(?:,[A-Za-z]+)*): ([A-Z].*\.)$/;

const quiet = {
  isTraceEnabled: () => false,
  isDebugEnabled: () => false,
  isInfoEnabled: () => false,
  isWarnEnabled: () => false,
  isErrorEnabled: () => false,
  isFatalEnabled: () => false,
  trace: () => undefined,
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  fatal: () => undefined,
};

/** All mutants of a source, without running any. */
export const instrument = async (name: string, content: string): Promise<readonly MutantOf[]> => {
  const options = { plugins: null, excludedMutations: [], ignorers: [] };
  return (await new Instrumenter(quiet).instrument([{ name, content, mutate: true }], options)).mutants;
};

/** The excuses in a source, and the positions of comments to Stryker in another form. */
export const excusesIn = async (file: string): Promise<{ excuses: Excuse[]; malformed: string[] }> => {
  const content = await readFile(file, 'utf8');
  const comments = content
    .split('\n')
    .flatMap((text, place) => (/\/[/*]\s*Stryker /.test(text) ? [{ text, place }] : []));
  if (comments.length === 0) return { excuses: [], malformed: [] };
  const mutants = await instrument(file, content);
  const places = new Set(comments.map(({ place }) => place));
  const excuses = comments.flatMap(({ text, place }) => {
    const [, mutators = '', reason = ''] = FORM.exec(text) ?? [];
    let line = place + 1;
    while (places.has(line)) line += 1;
    return mutators === ''
      ? []
      : mutators.split(',').map((mutator) => ({
          file,
          line: line + 1,
          mutator,
          reason,
          mutants: mutants
            .filter((one) => one.mutatorName === mutator && one.location.start.line === line)
            .flatMap(({ statusReason, replacement }) =>
              statusReason === reason && replacement !== undefined ? [replacement] : [],
            ),
        }));
  });
  const malformed = comments.filter(({ text }) => !FORM.test(text)).map(({ place }) => `${file}:${place + 1}`);
  return { excuses, malformed };
};
