/** `npm run prose`: checks the guides against the rules for prose, and everything for retired words. */
import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { checkGuide, type Finding } from './guides.ts';
import { findRetiredInGuide, findRetiredInService, findRetiredInSource, findRetiredInTexts } from './retired-words.ts';

const GUIDES = ['*.md', '.github/*.md', '{functions,infra,shared,test}/**/*.md'];
/** Sources with texts for people: help and output of commands, the API description, problem details, the phone. */
const TEXTS = [
  'infra/operator/**/*.ts',
  'infra/openapi/*.ts',
  'shared/core/problems.ts',
  'infra/local/phone/page/**/*.tsx',
];
const SERVICE = ['{functions,shared}/**/*.ts'];
const SOURCES = ['{functions,infra,shared,test}/**/*.{ts,tsx,html}'];

const all = (patterns: string[]): string[] => globSync(patterns).sort();

/** A guide without its generated part, and with quoted test names as code, which the rules skip; positions stay. */
const withoutQuotes = (text: string): string =>
  text
    .replace(/^## The score\n[\s\S]*/m, '')
    .replaceAll(/_"([^"]*)"_/g, (_, name: string) => `\`\`${name.replaceAll(/[^\n]/g, 'x')}\`\``);

/** A guide without code and the targets of links; positions stay. */
const proseOf = (text: string): string =>
  withoutQuotes(text).replaceAll(/^```[\s\S]*?^```|`[^`]*`|\]\([^)]*\)/gm, (part) => part.replaceAll(/[^\n]/g, ' '));

const findings: string[] = [];
const report = (path: string, found: Finding[]): void => {
  for (const { line, column, message } of found) findings.push(`${path}:${line}:${column} ${message}`);
};

for (const path of all(GUIDES)) {
  const text = await readFile(path, 'utf8');
  report(path, await checkGuide(withoutQuotes(text)));
  report(path, findRetiredInGuide(proseOf(text)));
}

const texts = all(TEXTS);
const service = all(SERVICE);
for (const path of all(SOURCES)) {
  if (path === 'infra/prose/retired-words.ts') continue;
  const text = await readFile(path, 'utf8');
  report(path, texts.includes(path) ? findRetiredInTexts(text) : findRetiredInSource(text));
  if (service.includes(path)) report(path, findRetiredInService(text));
}

for (const finding of findings) process.stdout.write(`${finding}\n`);
if (findings.length > 0) process.exitCode = 1;
