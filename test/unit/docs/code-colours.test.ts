import { glob, readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { colourCode } from '../../../infra/docs/site/code-colours.ts';

/** The coloured parts of code, as `kind:text`. */
const partsOf = (code: string, language: string): string[] =>
  [...colourCode(code, language).matchAll(/<span class="code-(\w+)">([\s\S]*?)<\/span>/g)].map(
    ([, kind, text]) => `${kind}:${text?.replaceAll('&quot;', '"')}`,
  );

test.each([
  [
    'json',
    '{"a": "b: c", "n": -1.5, "t": null}',
    ['name:"a"', 'text:"b: c"', 'name:"n"', 'word:-1.5', 'name:"t"', 'word:null'],
  ],
  [
    'sh',
    'curl "$URL" -H \'a b\' | jq -r .id # it',
    ['word:curl', 'text:"$URL"', 'name:-H', "text:'a b'", 'word:jq', 'name:-r', 'comment:# it'],
  ],
  ['sh', 'export A=$B', ['word:export', 'name:$B']],
  ['js', 'const a = f(`x`, 1); // "b"', ['word:const', 'name:f', 'text:`x`', 'word:1', 'comment:// "b"']],
  ['ts', "import type { A } from 'a';", ['word:import', 'word:type', 'word:from', "text:'a'"]],
  ['go', 'var a = f("x") // b', ['word:var', 'name:f', 'text:"x"', 'comment:// b']],
  ['java', 'new A("x"); /* b */', ['word:new', 'name:A', 'text:"x"', 'comment:/* b */']],
  [
    'python',
    'if x == "a#b":  # yes\n  return None',
    ['word:if', 'text:"a#b"', 'comment:# yes', 'word:return', 'word:None'],
  ],
  ['console', '$ echo -n "a"\nif --not 1\n$ ls', ['word:echo', 'name:-n', 'text:"a"', 'word:ls']],
  ['', 'const a = 1', []],
])('%s: the parts of %s have colours', (language, code, parts) => {
  expect(partsOf(code, language)).toEqual(parts);
});

test('signs of HTML are escaped, with and without colours', () => {
  expect(colourCode('<b> & "c"', '')).toBe('&lt;b&gt; &amp; &quot;c&quot;');
  expect(colourCode('"<b>"', 'json')).toBe('<span class="code-text">&quot;&lt;b&gt;&quot;</span>');
});

test('all code of the guides stays as it is, and most of it has colours', async () => {
  let coloured = 0;
  for await (const path of glob('infra/docs/{*,*/*}.md')) {
    for (const [, language = '', code = ''] of (await readFile(path, 'utf8')).matchAll(/^```(\w+)\n([\s\S]*?)^```/gm)) {
      const html = colourCode(code, language);
      const text = html.replaceAll(/<\/?span[^>]*>/g, '');
      expect(text, path).toBe(colourCode(code, ''));
      if (html !== text) coloured += 1;
    }
  }
  expect(coloured).toBeGreaterThan(50);
});
