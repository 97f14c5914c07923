/** The errors of operations, one row each: problems of the service, and errors of API Gateway. */
import type { Described, Resolve } from './description.ts';
import { jsonOf } from './examples.ts';
import type { Operation } from './operations.ts';

/** All texts are HTML. */
interface ErrorRow {
  status: string;
  /** The stable code; undefined for errors of API Gateway. */
  code: string | undefined;
  /** What is wrong. */
  title: string;
  /** What to do. */
  text: string;
  /** An example of the response. */
  example: string | undefined;
}

export interface Errors {
  /** Those of the operation. */
  own: ErrorRow[];
  /** Those that most operations return, too. */
  common: ErrorRow[];
}

interface Problem {
  code: string;
  title: string;
  detail: string;
}

/** Render Markdown as HTML: as paragraphs, or as a part of a line. */
interface Renderers {
  block(markdown: string): string;
  inline(markdown: string): string;
}

const BY_GATEWAY = 'API Gateway itself returns it. The body is `{"message": …}`, without a code.';

/** Reads the errors of an operation, by its id. */
export const errorReader = (
  operations: Operation[],
  resolve: Resolve,
  { block, inline }: Renderers,
): ((id: string) => Errors) => {
  const rowsOf = ({ responses }: Described): ErrorRow[] =>
    Object.entries(responses)
      .filter(([status]) => /^[45]\d\d$/.test(status))
      .flatMap(([status, response]) => {
        const { description, content = {} } = resolve(response);
        const { 'application/problem+json': problem, 'application/json': ofGateway } = content;
        const problems = Object.values(problem?.examples ?? {}).map((example) => resolve(example).value as Problem);
        // The remedies of problems come first, and then the words about API Gateway.
        const words = problems
          .map(({ detail }) => detail.replace(/^What to do: /, ''))
          .reduce((rest, remedy) => rest.slice(rest.indexOf(remedy) + remedy.length), description);
        const gateway = {
          status,
          code: undefined,
          title: inline(words.trim()),
          text: block(BY_GATEWAY),
          example: undefined,
        };
        return [
          ...problems.map((one) => ({
            status,
            code: one.code,
            title: inline(one.title),
            text: block(one.detail),
            example: jsonOf(one),
          })),
          ...(ofGateway ? [gateway] : []),
        ];
      });

  const rows = new Map(operations.map(({ id, described }) => [id, rowsOf(described)]));
  const nameOf = ({ status, code }: ErrorRow): string => `${status} ${code}`;
  const times = Map.groupBy([...rows.values()].flat(), nameOf);
  const most = operations.filter(({ isWebhook }) => !isWebhook).length / 2;
  const isCommon = (row: ErrorRow): boolean => (times.get(nameOf(row))?.length ?? 0) > most;
  return (id) => {
    const own = rows.get(id) ?? [];
    return { own: own.filter((row) => !isCommon(row)), common: own.filter(isCommon) };
  };
};
