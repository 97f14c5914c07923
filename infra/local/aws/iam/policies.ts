/** What a function's role allows it to do, judged as IAM judges it: action, resource, and in the table leading keys. */

/** A statement of a policy. */
export interface Statement {
  /** `dynamodb:GetItem` and the like. */
  actions: string[];
  /** `Table.Arn`, `Table.Arn/index/name`, or the ARN of something else, with `*` for any text. */
  resources: string[];
  /** Partition keys that it is fenced into, with `*` for any text; nothing, where it is not about items. */
  leadingKeys: string[] | undefined;
}

/** One thing that a call does. */
export interface Touch {
  /** `dynamodb:GetItem` and the like. */
  action: string;
  resource: string;
  /** The partition key; nothing, where there is none or the call does not name it in a way that we know. */
  partition?: string | undefined;
}

/** One thing that a policy allows, in words: action, resource, leading keys. */
export type Right = string;

/** Everything that the statements allow, one by one. */
export const rightsOf = (statements: Statement[]): Right[] =>
  statements.flatMap(({ actions, resources, leadingKeys = [''] }) =>
    actions.flatMap((action) =>
      resources.flatMap((resource) => leadingKeys.map((keys) => inWords(action, resource, keys))),
    ),
  );

/** The rights by which the statements allow a touch; none where they do not. */
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
 * The first touch of a call that the statements do not allow; nothing, if they allow the call. IAM judges a batch as one
 * request with many leading keys: one statement has to allow all of it.
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
