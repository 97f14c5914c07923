/**
 * Words that the project does not use any more, with the standard words in their place. `infra/docs/glossary.md` explains
 * the standard words. A word is in this table if its pattern has no false positive.
 */
import type { Finding } from './guides.ts';

interface RetiredWord {
  retired: RegExp;
  use: string;
}

/** A row of the table: the retired words as a pattern, which matches whole words in any case, and the standard word. */
const retire = (words: string, use: string): RetiredWord => ({
  retired: new RegExp(`(?<![\\w-])(?:${words.replaceAll(' ', '\\s+')})(?![\\w-])`, 'gi'),
  use,
});

/** Retired in all sources: code, comments, log messages, tests and guides. */
const EVERYWHERE = [retire('holds? against', 'check against')];

/** Retired in texts for people: guides, help of commands, API description, problem details. */
const IN_PROSE = [retire('unheard', 'ignored')];

const find = (words: readonly RetiredWord[], text: string): Finding[] =>
  words.flatMap(({ retired, use }) =>
    [...text.matchAll(retired)].map(({ 0: word, index }) => {
      const before = text.slice(0, index).split('\n');
      const message = `"${word.replaceAll(/\s+/g, ' ')}" is retired: ${use}`;
      return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1, message };
    }),
  );

export const findRetiredInSource = (text: string): Finding[] => find(EVERYWHERE, text);

export const findRetiredInProse = (text: string): Finding[] => find([...EVERYWHERE, ...IN_PROSE], text);
