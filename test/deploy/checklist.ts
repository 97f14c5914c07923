/** The commands of the checklist in the guide for operators, in their order. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const GUIDE = fileURLToPath(new URL('../../infra/docs/operator.md', import.meta.url));

const TITLE = 'From an empty AWS account to production';

/** A step of the checklist: its number and title, and the words of each of its commands. */
export interface ChecklistStep {
  title: string;
  commands: string[][];
}

/**
 * The steps that have commands.
 *
 * @throws Error — the guide has no checklist
 */
export const checklistSteps = async (): Promise<ChecklistStep[]> => {
  const guide = await readFile(GUIDE, 'utf8');
  const [, section] = new RegExp(`\n## ${TITLE}\n([\\s\\S]*?)\n## `).exec(guide) ?? [];
  if (section === undefined) throw new Error(`The guide for operators has no section "${TITLE}".`);
  return section.split(/^(?=\*\*)/m).flatMap((paragraphs) => {
    const [, title = ''] = /^\*\*(.+?)\.?\*\*/.exec(paragraphs) ?? [];
    const commands = [...paragraphs.matchAll(/^```sh\n([\s\S]*?)^```/gm)].flatMap(([, lines = '']) =>
      lines.trimEnd().split('\n').map(wordsOf),
    );
    return commands.length === 0 ? [] : [{ title, commands }];
  });
};

/** The words of a command line, without the quotes around them. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, double, single, plain]) => double ?? single ?? plain ?? '');
