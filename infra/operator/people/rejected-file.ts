/** The file of rejected rows: people correct it, and import it again. */
import { writeFile } from 'node:fs/promises';
import { join, parse } from 'node:path';
import { getSystemErrorMessage } from 'node:util';
import { UserError } from '../queries/accounts-admin.ts';
import type { PanelistFile } from './panelist-file.ts';
import type { TextFile } from './text-file.ts';

/** The name of the file for rows of standard input. */
const OF_STANDARD_INPUT = 'panelists.csv';

const MARK = '\uFEFF';

/**
 * Writes rejected rows as they are in their file, each after a comment with its line and the reason; import ignores
 * comments. Only the file's owner can read it. An existing file is never overwritten.
 *
 * @param path - the file that the rows are from; `-` is standard input
 * @returns the path of the new file
 * @throws UserError — it cannot be written
 */
export const writeRejectedRows = async (
  path: string,
  { header, bad }: Pick<PanelistFile, 'header' | 'bad'>,
  { hasMark, lineEnd }: Pick<TextFile, 'hasMark' | 'lineEnd'>,
): Promise<string> => {
  const lines = [
    ...(header === undefined ? [] : [header]),
    ...bad.flatMap(({ line, reason, text }) => [`# line ${line}: it ${reason}`, ...text]),
  ];
  const content = `${hasMark ? MARK : ''}${lines.join('\n').replaceAll('\n', lineEnd)}${lineEnd}`;
  const { dir, name, ext } = parse(path === '-' ? OF_STANDARD_INPUT : path);
  // The rows of a corrected file may be rejected again.
  const base = name.replace(/-rejected(-\d+)?$/, '');
  for (let attempt = 1; ; attempt += 1) {
    const rejected = join(dir, `${base}-rejected${attempt === 1 ? '' : `-${attempt}`}${ext || '.csv'}`);
    try {
      await writeFile(rejected, content, { flag: 'wx', mode: 0o600 });
      return rejected;
    } catch (error) {
      if (!(error instanceof Error) || !('code' in error) || !('errno' in error)) throw error;
      if (error.code === 'EEXIST') continue;
      throw new UserError(
        `The file ${rejected} cannot be written: ${getSystemErrorMessage(Number(error.errno))}. Nothing was imported.`,
      );
    }
  }
};
