/** The commands of the checklist in the guide for operators, in their order, and its settings. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import * as v from 'valibot';

const GUIDE = fileURLToPath(new URL('../../infra/docs/operator.md', import.meta.url));

const TITLE = 'From an empty AWS account to production';

/** A step of the checklist: its number and title, and the words of each of its commands. */
export interface ChecklistStep {
  title: string;
  commands: string[][];
}

/** @throws Error — the guide has no checklist */
const checklist = async (): Promise<string> => {
  const guide = await readFile(GUIDE, 'utf8');
  const [, section] = new RegExp(`\n## ${TITLE}\n([\\s\\S]*?)\n## `).exec(guide) ?? [];
  if (section === undefined) throw new Error(`The guide for operators has no section "${TITLE}".`);
  return section;
};

const settings = v.pipe(v.string('The checklist has no settings.'), v.parseJson(), v.record(v.string(), v.unknown()));

/** The settings that the checklist proposes. */
export const checklistSettings = async (): Promise<Record<string, unknown>> =>
  v.parse(settings, /^```json\n([\s\S]*?)^```/m.exec(await checklist())?.[1]);

/** The steps that have commands. */
export const checklistSteps = async (): Promise<ChecklistStep[]> =>
  (await checklist()).split(/^(?=\*\*)/m).flatMap((paragraphs) => {
    const [, title = ''] = /^\*\*(.+?)\.?\*\*/.exec(paragraphs) ?? [];
    const commands = [...paragraphs.matchAll(/^```sh\n([\s\S]*?)^```/gm)].flatMap(([, lines = '']) =>
      lines.trimEnd().split('\n').map(wordsOf),
    );
    return commands.length === 0 ? [] : [{ title, commands }];
  });

/** The words of a command line, without the quotes around them. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, double, single, plain]) => double ?? single ?? plain ?? '');
