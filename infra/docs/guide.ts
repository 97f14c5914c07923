/** Guides in Markdown, as parts of pages. */
import { Marked, type RendererObject, type Tokens } from 'marked';

/** The guide as HTML; headings can be linked to by the names that code hosts give them. */
export const renderGuide = (markdown: string): string => {
  const taken = new Map<string, number>();
  const renderer: RendererObject = {
    heading({ tokens, depth }: Tokens.Heading) {
      const text = this.parser.parseInline(tokens);
      const name = slugOf(this.parser.parseInline(tokens, this.parser.textRenderer));
      const times = taken.get(name) ?? 0;
      taken.set(name, times + 1);
      return `<h${depth} id="${times === 0 ? name : `${name}-${times}`}">${text}</h${depth}>\n`;
    },
    link({ href, tokens }: Tokens.Link) {
      const text = this.parser.parseInline(tokens);
      const target = targetOf(href);
      return target === undefined ? text : `<a href="${target}">${text}</a>`;
    },
    html: () => '',
  };
  const html = new Marked({ gfm: true, renderer }).parse(markdown, { async: false });
  // Wide ones scroll by themselves, with the keyboard too.
  return html
    .replaceAll('<table>', '<div class="wide" tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>')
    .replaceAll('<pre>', '<pre tabindex="0">');
};

const slugOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/&[a-z#0-9]+;/g, '')
    .replaceAll(/[^\p{L}\p{N}\- _]/gu, '')
    .replaceAll(' ', '-');

/** Where a link leads on the site; nowhere, where it leads to a file of the sources. */
const targetOf = (href: string): string | undefined => {
  if (/^(https?:|#)/.test(href)) return href;
  const [, page, anchor = ''] = /^(?:\.\/)?([a-z-]+)\.md(#.*)?$/.exec(href) ?? [];
  return page === undefined ? undefined : `${page}.html${anchor}`;
};
