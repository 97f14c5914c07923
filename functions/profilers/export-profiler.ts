/** GET /v1/research_profilers/{id}/{file}: the answers to one of the caller's profilers, or their counts, as CSV. */
import { profilers as api } from '../../shared/api/areas/profilers.ts';
import { csvLine } from '../../shared/core/csv.ts';
import { decodeCursor, encodeCursor } from '../../shared/http/cursor.ts';
import { endpoint, nextPage, ok } from '../../shared/http/endpoint.ts';
import { asFile } from '../../shared/http/file.ts';
import { exportAnswers, type ListedAnswer } from '../../shared/profilers/answers.ts';
import { readResults } from '../../shared/profilers/results.ts';

const lineOf = ({ phone_number, option_id, option, created }: ListedAnswer): string =>
  csvLine([phone_number, option_id, option, `${created}Z`]);

export const handler = endpoint(api.exportProfiler, async ({ account, path: { id, file }, query: { cursor } }) => {
  const described = asFile(file, `profiler-${id}`);
  const filters = [account, id, file];
  const after = decodeCursor(api.exportProfiler, filters, cursor);
  if (file === 'results.csv') {
    const { options } = await readResults(account, id);
    const lines = options.map((option) => csvLine([option.id, option.option, option.count]));
    return ok(Buffer.from(csvLine(['option_id', 'option', 'count']) + lines.join('')), described);
  }
  const { lines, next } = await exportAnswers(account, id, lineOf, after);
  const header = after === undefined ? csvLine(['phone_number', 'option_id', 'option', 'created']) : '';
  const path = `/v1/research_profilers/${id}/${file}`;
  const link = next === undefined ? {} : nextPage(path, { cursor: encodeCursor(api.exportProfiler, filters, next) });
  return ok(Buffer.from(header + lines.join('')), { ...described, ...link });
});
