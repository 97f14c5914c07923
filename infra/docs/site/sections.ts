/** Takes the parts of guides that are pages of the site, and finds the page of each heading. */
import { posix } from 'node:path';
import { pages as allPages, type Page } from './navigation.ts';

/** The texts of guides, by their paths in `infra/docs`. */
export type Guides = ReadonlyMap<string, string>;

interface Section {
  title: string;
  /** The text below the heading. */
  body: string;
}

const FENCE = /^ *```/;

/** A guide's heading, its text before the first section, and its sections. */
const split = (markdown: string): { heading: string; intro: string; sections: Section[] } => {
  const sections: Section[] = [{ title: '', body: '' }];
  let isCode = false;
  for (const line of markdown.split('\n')) {
    if (FENCE.test(line)) isCode = !isCode;
    const [, title] = (!isCode && /^## (.+)$/.exec(line)) || [];
    const last = sections.at(-1);
    if (title !== undefined) sections.push({ title, body: '' });
    else if (last && (isCode || !line.startsWith('# '))) last.body += `${line}\n`;
  }
  const [intro, ...rest] = sections;
  return { heading: /^# (.+)$/m.exec(markdown)?.[1] ?? '', intro: intro?.body ?? '', sections: rest };
};

/** Raises the headings of a text by one level. */
const raised = (markdown: string): string => {
  let isCode = false;
  return markdown
    .split('\n')
    .map((line) => {
      if (FENCE.test(line)) isCode = !isCode;
      return isCode ? line : line.replace(/^##(?=#+ )/, '#');
    })
    .join('\n');
};

const textOf = (guides: Guides, path: string): string => {
  const text = guides.get(path);
  if (text === undefined) throw new Error(`There is no guide ${path}.`);
  return text;
};

/**
 * The Markdown of a page. Its heading replaces that of its first section, if that section is named like the page or is the
 * only one.
 *
 * @throws Error — the guide lacks a section of the page
 */
export const markdownOf = (guides: Guides, { title, guide, sections: wanted }: Page): string => {
  const { heading, intro, sections } = split(textOf(guides, guide));
  const shown =
    wanted === undefined
      ? sections
      : wanted === 'rest'
        ? sections.filter(({ title: own }) => !isNamed(guide, own))
        : wanted.map((name) => named(sections, name, guide));
  const [first, ...others] = shown;
  const isHeaded = Array.isArray(wanted) && (wanted.length === 1 || wanted[0] === title);
  const parts = [
    `# ${wanted === undefined ? heading : title}`,
    Array.isArray(wanted) ? '' : intro,
    ...(first ? [isHeaded ? raised(first.body) : written(first)] : []),
    ...others.map(written),
  ];
  return parts
    .map((part) => part.trim())
    .filter(Boolean)
    .join('\n\n');
};

const written = ({ title, body }: Section): string => `## ${title}\n${body}`;

const named = (sections: Section[], name: string, guide: string): Section => {
  const section = sections.find(({ title }) => title === name);
  if (section === undefined) throw new Error(`${guide} has no section "${name}". Correct navigation.ts.`);
  return section;
};

/** Whether a page names this section of a guide. */
const isNamed = (guide: string, section: string): boolean =>
  allPages.some(({ guide: own, sections }) => own === guide && Array.isArray(sections) && sections.includes(section));

/** The id of a heading, as on GitHub. */
export const slugOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/&[a-z#0-9]+;/g, '')
    .replaceAll(/[^\p{L}\p{N}\- _]/gu, '')
    .replaceAll(' ', '-');

/** Finds the URL on the site for a link of a guide; undefined for files that are not part of the site. */
export type Resolve = (guide: string, href: string) => string | undefined;

/** The resolver for the links of these guides. */
export const resolverOf = (guides: Guides): Resolve => {
  const targets = new Map<string, string>();
  const put = (key: string, target: string) => void (targets.has(key) || targets.set(key, target));
  for (const page of allPages) {
    const { guide, path, sections } = page;
    if (!Array.isArray(sections)) put(guide, path);
    const only = Array.isArray(sections) && sections.length === 1 ? sections[0] : undefined;
    if (only !== undefined) put(`${guide}#${slugOf(only)}`, path);
    for (const [, heading = ''] of withoutCode(markdownOf(guides, page)).matchAll(/^#{1,6} (.+)$/gm)) {
      const slug = slugOf(heading.replaceAll(/[`*_]|\]\([^)]*\)|\[/g, ''));
      put(`${guide}#${slug}`, `${path}#${slug}`);
    }
  }
  return (guide, href) => {
    if (/^https?:/.test(href)) return href;
    const [file = '', anchor] = href.split('#');
    const target = file === '' ? guide : posix.join(posix.dirname(guide), file);
    return targets.get(anchor === undefined ? target : `${target}#${anchor}`);
  };
};

const withoutCode = (markdown: string): string => markdown.replaceAll(/^ *```[\s\S]*?^ *```/gm, '');
