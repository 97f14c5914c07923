/** Evaluates policies as IAM does: by action, resource, and leading keys of the table. */

/** A statement of a policy. */
export interface Statement {
  /** `dynamodb:GetItem` and the like. */
  actions: string[];
  /** `Table.Arn`, `Table.Arn/index/name`, or the ARN of something else, with `*` for any text. */
  resources: string[];
  /** Partition keys that it is limited to, with `*` for any text; undefined if it is not about items. */
  leadingKeys: string[] | undefined;
}

/** An action of a call on a resource. A batch or transaction has several. */
export interface TableCall {
  /** `dynamodb:GetItem` and the like. */
  action: string;
  resource: string;
  /** The partition key; undefined if the call has none, or in an unknown form. */
  partition?: string | undefined;
}

/** A permission of a policy as text: action, resource, leading keys. */
export type Right = string;

/** The rights that statements allow. */
export const rightsOf = (statements: Statement[]): Right[] =>
  statements.flatMap(({ actions, resources, leadingKeys = [''] }) =>
    actions.flatMap((action) =>
      resources.flatMap((resource) => leadingKeys.map((keys) => inWords(action, resource, keys))),
    ),
  );

/** The rights that allow a touch; empty if it is denied. */
export const rightsFor = (statements: Statement[], { action, resource, partition }: TableCall): Right[] =>
  statements
    .filter(({ actions }) => actions.includes(action))
    .flatMap(({ resources, leadingKeys }) => {
      const stated = resources.filter((named) => named === resource || isLike(resource, named));
      if (leadingKeys === undefined) return stated.map((named) => inWords(action, named, ''));
      if (partition === undefined) return [];
      const patterns = leadingKeys.filter((pattern) => isLike(partition, pattern));
      return stated.flatMap((named) => patterns.map((pattern) => inWords(action, named, pattern)));
    });

/**
 * How IAM may evaluate the keys of a transaction, which AWS does not document. Each way denies all that the ways before it
 * deny. IAM evaluates a batch as one request with many leading keys in any case, so one statement must allow all of them.
 *
 * @internal Tests use it, too.
 */
export const transactionEvaluations = ['per item', 'per action', 'whole call'] as const;

export type TransactionEvaluation = (typeof transactionEvaluations)[number];

/** A request as IAM evaluates it: one action on one resource, with all partition keys that it names. */
export interface AccessRequest {
  action: string;
  resource: string;
  /** Undefined if there is no key, or if the emulator does not recognise it. */
  partitions: (string | undefined)[];
}

/** The requests that IAM evaluates for a call. */
const requestsOf = (touches: TableCall[], evaluation: TransactionEvaluation): AccessRequest[] => {
  const groups = Map.groupBy(touches, ({ action, resource, partition }) => {
    const isAlone = evaluation === 'per item' && !isBatch(action);
    return JSON.stringify([action, resource, ...(isAlone ? [partition] : [])]);
  });
  return [...groups.values()].flatMap((group) =>
    group.slice(0, 1).map(({ action, resource }) => {
      const together = evaluation === 'whole call' ? touches : group;
      return { action, resource, partitions: [...new Set(together.map(({ partition }) => partition))] };
    }),
  );
};

const isBatch = (action: string): boolean => action.startsWith('dynamodb:Batch');

/** The first request of a call that the statements deny; undefined if they allow the call. */
export const deniedRequest = (
  statements: Statement[],
  touches: TableCall[],
  evaluation: TransactionEvaluation,
): AccessRequest | undefined =>
  requestsOf(touches, evaluation).find((request) => !statements.some((statement) => allows(statement, request)));

/** Whether a single statement allows a request: it must name the partitions of all keys. */
const allows = (statement: Statement, { action, resource, partitions }: AccessRequest): boolean =>
  partitions.every((partition) => rightsFor([statement], { action, resource, partition }).length > 0);

/** The rights that a call uses, in all evaluations that allow it. */
export const rightsUsed = (statements: Statement[], touches: TableCall[]): Right[] =>
  transactionEvaluations
    .filter((evaluation) => deniedRequest(statements, touches, evaluation) === undefined)
    .flatMap((evaluation) => requestsOf(touches, evaluation))
    .flatMap(({ action, resource, partitions }) =>
      partitions.flatMap((partition) => rightsFor(statements, { action, resource, partition })),
    );

const inWords = (action: string, resource: string, keys: string): Right => `${action} ${resource} ${keys}`.trim();

const isLike = (text: string, pattern: string): boolean => expressionOf(pattern).test(text);

/** Compiled patterns: there are few, and each call is compared with several. */
const expressions = new Map<string, RegExp>();

const expressionOf = (pattern: string): RegExp => {
  const known = expressions.get(pattern) ?? new RegExp(`^${pattern.split('*').map(RegExp.escape).join('.*')}$`, 's');
  expressions.set(pattern, known);
  return known;
};
