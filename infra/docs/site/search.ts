/** The search of the site: `site.js` imports it with MiniSearch, as one file. */
import MiniSearch, { type SearchResult } from 'minisearch';
import type { Entry } from './search-entries.ts';

type Index = MiniSearch<Entry>;

export const indexOf = (entries: readonly Entry[]): Index => {
  const index = new MiniSearch<Entry>({
    fields: ['title', 'page', 'text', 'synonyms'],
    storeFields: ['title', 'page', 'url', 'text', 'weight'],
    tokenize: (text) => text.split(/[^\p{L}\p{N}_]+/u).flatMap((word) => [word, ...word.split('_')]),
    searchOptions: {
      boost: { synonyms: 8, title: 4, page: 2 },
      boostDocument: (_id, _term, stored) => Number(stored?.weight),
      prefix: true,
      fuzzy: (term) => (term.length > 4 ? 0.2 : 0),
      combineWith: 'AND',
    },
  });
  index.addAll(entries);
  return index;
};

/** What the `type` of a problem has before its code. */
const PROBLEM_TYPE = /^\S*#\/components\/responses\//;

/** The entries with all the words, or with similar ones, best first. The `type` of a problem finds its code. */
export const searchIn = (index: Index, words: string): SearchResult[] => index.search(words.replace(PROBLEM_TYPE, ''));
