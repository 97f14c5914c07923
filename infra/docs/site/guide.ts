/** Renders guides in Markdown as parts of pages. */
import { Marked, type RendererObject, type Tokens } from 'marked';
import { colourCode } from './code-colours.ts';
import { slugOf } from './sections.ts';

export interface PageContext {
  /** The URL on the site for a link's target; undefined for files that are not part of the site. */
  linkTo(href: string): string | undefined;
  /** The picture that an image refers to, as SVG. */
  pictureOf(href: string): string;
}

/** A guide alone, with its links as they are. */
const ALONE: PageContext = {
  linkTo: (href) => href,
  pictureOf: () => '',
};

/** The guide as HTML. Headings have the same ids as on GitHub. */
export const renderGuide = (markdown: string, { linkTo, pictureOf }: PageContext = ALONE): string => {
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
      const target = linkTo(href);
      return target === undefined ? text : `<a href="${target}">${text}</a>`;
    },
    image({ href, text }: Tokens.Image) {
      const picture = pictureOf(href).replace(/<svg /, `<svg role="img" aria-label="${text}" `);
      // Wide pictures scroll within the page.
      return `<span class="picture" tabindex="0">${picture}</span>`;
    },
    code: ({ text, lang = '' }: Tokens.Code) => `<pre><code>${colourCode(text, lang)}</code></pre>\n`,
    table({ header, rows }: Tokens.Table) {
      const columns = header.map(({ tokens }) => this.parser.parseInline(tokens, this.parser.textRenderer));
      const rowOf = (cells: Tokens.TableCell[]) =>
        cells.map(({ tokens }, column) => cellOf(this.parser.parseInline(tokens), columns[column] ?? '')).join('');
      const names = header.map(({ tokens }) => `<th role="columnheader">${this.parser.parseInline(tokens)}</th>`);
      // On narrow screens, rows are cards: the roles keep them a table for screen readers. A wide table scrolls within
      // the page, with the keyboard too.
      return `<div class="wide" tabindex="0"><table role="table">
<thead role="rowgroup"><tr role="row">${names.join('')}</tr></thead>
<tbody role="rowgroup">
${rows.map((cells) => `<tr role="row"${idOf(cells)}>${rowOf(cells)}</tr>\n`).join('')}</tbody>
</table></div>
`;
    },
    html: () => '',
  };
  return new Marked({ gfm: true, renderer }).parse(markdown, { async: false });
};

/** A cell with the name of its column, which cards show. */
const cellOf = (html: string, column: string): string =>
  `<td role="cell"${column && html && ` data-column="${column.replaceAll('"', '&quot;')}"`}>${html}</td>`;

/** Each error has a URL: its row has its code as id. */
const idOf = ([status, code]: Tokens.TableCell[]): string => {
  const [, name] = (/^\d{3}$/.test(status?.text ?? '') && /^`(\w+)`$/.exec(code?.text ?? '')) || [];
  return name === undefined ? '' : ` id="${name}"`;
};

/** An error in a rendered guide. */
interface ListedError {
  code: string;
  status: string;
  remedy: string;
}

/** The errors that the tables of a rendered guide list. */
export const errorsOf = (html: string): ListedError[] =>
  [...html.matchAll(/<tr role="row" id="(\w+)"><td[^>]*>(\d{3})<\/td><td.*?<\/td><td[^>]*>(.*?)<\/td>/g)].map(
    ([, code = '', status = '', remedy = '']) => ({ code, status, remedy: plain(remedy) }),
  );

export interface Heading {
  id: string;
  level: 2 | 3;
  title: string;
}

const HEADING = /<h([23]) id="([^"]+)">(.*?)<\/h\1>/g;

/** The headings of a rendered guide, for its table of contents. */
export const headingsOf = (html: string): Heading[] =>
  [...html.matchAll(HEADING)].map(([, level, id = '', title = '']) => ({
    id,
    level: level === '2' ? 2 : 3,
    title: title.replaceAll(/<[^>]+>/g, ''),
  }));

/** A part of a rendered guide: below a heading, or above the first one (`id` empty). */
export interface Part {
  id: string;
  title: string;
  text: string;
}

/** The parts of a rendered guide as plain text, for the search. */
export const partsOf = (html: string): Part[] =>
  html.split(/(?=<h[23] id=)/).map((part) => {
    const [heading, id = '', title = ''] = /^<h[23] id="([^"]+)">(.*?)<\/h[23]>/.exec(part) ?? [];
    return { id, title: plain(title), text: plain(part.slice(heading?.length ?? 0)) };
  });

const plain = (html: string): string =>
  html
    .replaceAll(/<svg[\s\S]*?<\/svg>|<h1[\s\S]*?<\/h1>/g, ' ')
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
    .replaceAll(/\s+/g, ' ')
    .trim();
