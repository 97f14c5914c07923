/** The site for programs that read text: each page as Markdown, `llms.txt` (https://llmstxt.org) and `llms-full.txt`. */
import { type Group, groups } from './navigation.ts';
import { notes } from './notes.ts';

/** A page's path with the ending of its Markdown; or a link to it. */
export const markdownPath = (link: string): string => link.replace(/\.html(?=$|#)/, '.md');

/** Code, or else a link or a picture. */
const PARTS = /^ *```[\s\S]*?^ *```|(`+)(?!`)[\s\S]*?[^`]\1(?!`)|(!?)\[((?:[^[\]]|\[[^[\]]*\])*)\]\(([^()\s]+)\)/gm;

/**
 * The Markdown of a page for the site. Its links lead to Markdown, too, and pictures are their descriptions.
 *
 * @param linkTo - returns the URL on the site for a link's target; undefined for files that are not part of the site
 */
export const siteMarkdown = (markdown: string, linkTo: (href: string) => string | undefined): string =>
  markdown.replaceAll(/<!--[\s\S]*?-->\n*/g, '').replaceAll(PARTS, (part, _ticks, picture, text, href) => {
    if (href === undefined) return part;
    if (picture) return `_Picture: ${text}_`;
    const target = linkTo(href);
    return target === undefined ? text : `[${text}](${/^https?:/.test(target) ? target : markdownPath(target)})`;
  });

const listOf = (title: string, listed: readonly Group[]): string => {
  const lines = listed
    .flatMap(({ pages }) => pages)
    .map(({ path, title: name }) => `- [${name}](${markdownPath(path)}): ${notes[path] ?? ''}`);
  return `## ${title}\n\n${lines.join('\n')}`;
};

/**
 * The list of all pages. Those for contributors are optional: programs may leave them out.
 *
 * @param operations - the list of the reference's pages
 */
export const llmsText = (operations: string): string => {
  const [optional = [], others = []] = [true, false].map((isOptional) =>
    groups.filter(({ audience }) => (audience === 'contributors') === isOptional),
  );
  return `# Business API

> An HTTP API for businesses: send messages and surveys to the users of a datafree app, ask them for data with their consent, receive their messages by webhook or through RapidPro and Turn, and read states and statistics.

Each page of this documentation is also Markdown: its address has \`.md\` in place of \`.html\`.

## API

- [API description](openapi.json): OpenAPI 3.1 with every operation, schema, example and error, and code samples.
- [All guides for users](llms-full.txt): the text of the pages for those who use the API, in one file.

${others.map((group) => listOf(group.title, [group])).join('\n\n')}

## Operations and webhooks

${operations}

${listOf('Optional', optional)}
`;
};

/** All pages for users in one text. */
export const llmsFullText = (markdownOfPage: (path: string) => string): string =>
  groups
    .filter(({ audience }) => audience === 'users')
    .flatMap(({ pages }) => pages)
    .map(({ path }) => markdownOfPage(path))
    .join('\n\n');
