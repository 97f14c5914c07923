/** Colours code when the site is built. It knows the few languages of the guides, so it needs no package. */

/** The classes of coloured parts, `code-NAME` in the style sheet. */
type Kind = 'comment' | 'text' | 'word' | 'name';

type Rule = readonly [Kind, RegExp];

const DOUBLE = /"(?:[^"\\]|\\[\s\S])*"/;
const SINGLE = /'(?:[^'\\\n]|\\.)*'/;
const NUMBER = /(?<![\w.-])-?\d[\d_]*(?:\.\d+)?(?:e[+-]?\d+)?\b/i;

const JAVASCRIPT =
  'async|await|class|const|else|export|for|from|function|if|import|in|let|new|of|return|throw|try|catch|type|while|true|false|null|undefined';

/** The rules of a language whose comments and texts are like those of C. */
const likeC = (words: string): readonly Rule[] => [
  ['comment', /\/\/.*|\/\*[\s\S]*?\*\//],
  ['text', DOUBLE],
  ['text', SINGLE],
  ['text', /`(?:[^`\\]|\\[\s\S])*`/],
  ['word', new RegExp(`\\b(?:${words})\\b`)],
  ['word', NUMBER],
  ['name', /[\w$]+(?=\()/],
];

/** The rules of each language. At a place, the first one that matches wins. */
const LANGUAGES: Readonly<Record<string, readonly Rule[]>> = {
  json: [
    ['name', /"(?:[^"\\\n]|\\.)*"(?=\s*:)/],
    ['text', DOUBLE],
    ['word', /\b(?:true|false|null)\b/],
    ['word', NUMBER],
  ],
  sh: [
    ['comment', /(?<=^|\s)#.*/m],
    ['text', DOUBLE],
    // A shell's quotes may span lines.
    ['text', /'[^']*'/],
    ['name', /\$(?:\w+|\{\w+\})/],
    ['name', /(?<=\s)--?[a-zA-Z][\w-]*/],
    ['word', /(?<=^ *|[|&;(] *)(?!\s)[\w./-]+(?=\s|$)/m],
  ],
  js: likeC(JAVASCRIPT),
  ts: likeC(JAVASCRIPT),
  go: likeC('case|const|defer|else|for|func|if|import|nil|package|range|return|struct|switch|type|var|true|false'),
  java: likeC(
    'catch|class|else|final|for|if|import|new|private|public|return|static|throw|throws|try|var|void|while|null|true|false',
  ),
  python: [
    ['comment', /#.*/],
    ['text', /"""[\s\S]*?"""/],
    ['text', DOUBLE],
    ['text', SINGLE],
    [
      'word',
      /\b(?:and|as|def|elif|else|except|finally|for|from|if|import|in|is|not|or|raise|return|try|while|with|True|False|None)\b/,
    ],
    ['word', NUMBER],
    ['name', /\w+(?=\()/],
  ],
};

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

const coloured = (code: string, rules: readonly Rule[]): string => {
  const pattern = new RegExp(rules.map(([, { source }]) => `(${source})`).join('|'), 'gmi');
  let html = '';
  let end = 0;
  for (const match of code.matchAll(pattern)) {
    const [text] = match;
    const rule = rules[match.slice(1).findIndex((group) => group !== undefined)];
    html += `${escapeHtml(code.slice(end, match.index))}<span class="code-${rule?.[0]}">${escapeHtml(text)}</span>`;
    end = match.index + text.length;
  }
  return html + escapeHtml(code.slice(end));
};

/** Commands after `$ `, each with its output, which has no colours. */
const colouredSession = (code: string, rules: readonly Rule[]): string =>
  code
    .split(/^(?=\$ )/m)
    .map((part) => {
      const [, prompt = '', command = '', output = ''] = /^(\$ )?((?:.*\\\n)*.*)([\s\S]*)$/.exec(part) ?? [];
      return prompt === '' ? escapeHtml(part) : `${prompt}${coloured(command, rules)}${escapeHtml(output)}`;
    })
    .join('');

/** Code as HTML. Code in a language without rules is only escaped. */
export const colourCode = (code: string, language: string): string => {
  const { sh = [], [language]: rules } = LANGUAGES;
  if (language === 'console') return colouredSession(code, sh);
  return rules === undefined ? escapeHtml(code) : coloured(code, rules);
};
