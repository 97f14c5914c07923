/** Checks prose in Markdown with rules of retext, and two rules of this project. Skips code, links and HTML. */
import type { Root, Sentence } from 'nlcst';
import { toString as textOf } from 'nlcst-to-string';
import remarkGfm from 'remark-gfm';
import remarkParse from 'remark-parse';
import remarkRetext from 'remark-retext';
import retextEnglish from 'retext-english';
import retextIndefiniteArticle from 'retext-indefinite-article';
import retextPassive from 'retext-passive';
import retextRepeatedWords from 'retext-repeated-words';
import retextSimplify from 'retext-simplify';
import { unified } from 'unified';
import { visit } from 'unist-util-visit';
import { VFile } from 'vfile';

export interface Finding {
  line: number;
  column: number;
  message: string;
}

/** Maximum number of words in a sentence. The style guide recommends 25; tables of conditions need some more. */
const MOST_WORDS = 32;

/** Maximum share of passive sentences in a guide. Most sentences should name the actor. */
const MOST_PASSIVE = 0.25;

/** Terms of the field, which retext-simplify would replace by everyday words. */
const TERMS = [
  ...['address', 'attempt', 'contain', 'contains', 'effect', 'function', 'has no effect', 'interface', 'maximum'],
  ...['minimum', 'modify', 'monitor', 'notify', 'option', 'parameter', 'parameters', 'previous', 'provide', 'remain'],
  ...['request', 'require', 'submit', 'therefore', 'type', 'validate', 'it is', 'there is', 'there are'],
];

const sentenceLength = () => (tree: Root, file: VFile) =>
  visit(tree, 'SentenceNode', (sentence: Sentence) => {
    const words = sentence.children.filter(({ type }) => type === 'WordNode').length;
    if (words <= MOST_WORDS) return;
    const begin = textOf(sentence).replaceAll(/\s+/g, ' ').slice(0, 50);
    file.message(`A sentence of ${words} words, at most ${MOST_WORDS}: "${begin}…"`, { place: sentence.position });
  });

const passiveShare = () => (tree: Root, file: VFile) => {
  let sentences = 0;
  visit(tree, 'SentenceNode', () => {
    sentences += 1;
  });
  const passive = file.messages.filter(({ source }) => source === 'retext-passive');
  const most = Math.ceil(sentences * MOST_PASSIVE);
  if (passive.length <= most) file.messages = file.messages.filter((message) => !passive.includes(message));
};

const english = unified().use(retextEnglish);
english
  .use(retextPassive)
  .use(passiveShare)
  .use(retextRepeatedWords)
  .use(retextIndefiniteArticle)
  .use(retextSimplify, { ignore: TERMS })
  .use(sentenceLength);

const markdown = unified().use(remarkParse).use(remarkGfm).use(remarkRetext, english);

/** The findings of all rules in a guide. */
export const checkGuide = async (text: string): Promise<Finding[]> => {
  const file = new VFile(text);
  await markdown.run(markdown.parse(file), file);
  return file.messages.map(({ line = 1, column = 1, reason }) => ({ line, column, message: reason }));
};
