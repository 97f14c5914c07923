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
export interface Touch {
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
export const rightsFor = (statements: Statement[], { action, resource, partition }: Touch): Right[] =>
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
 * The first touch of a call that the statements deny; undefined if they allow the call. IAM evaluates a batch as one
 * request with many leading keys, so one statement must allow all of them.
 */
export const refusedTouch = (statements: Statement[], touches: Touch[]): Touch | undefined => {
  const refused = touches.find((touch) => rightsFor(statements, touch).length === 0);
  if (refused !== undefined) return refused;
  const [first] = touches;
  if (!first?.action.startsWith('dynamodb:Batch')) return undefined;
  const allowsAll = (statement: Statement) => touches.every((touch) => rightsFor([statement], touch).length > 0);
  return statements.some(allowsAll) ? undefined : first;
};

const inWords = (action: string, resource: string, keys: string): Right => `${action} ${resource} ${keys}`.trim();

const isLike = (text: string, pattern: string): boolean =>
  new RegExp(`^${pattern.split('*').map(RegExp.escape).join('.*')}$`, 's').test(text);
