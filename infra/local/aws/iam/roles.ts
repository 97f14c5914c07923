/** Checks calls against the roles of the calling functions, and records which rights were needed. */
import type { IncomingHttpHeaders } from 'node:http';
import {
  deniedRequest,
  type Right,
  rightsOf,
  rightsUsed,
  type Statement,
  type TableCall,
  type TransactionEvaluation,
} from './policies.ts';

/** The access key of operators and tests, which may do everything. */
export const OPERATOR = 'operator';

/** The policies of roles, and the touches of event source mappings. */
interface Policies {
  functions: { id: string; policy: Statement[] }[];
  /** By the id of the function whose role each uses. */
  mappings: { function: string; needs: TableCall[] }[];
}

/** A kind of call that a function made. */
export interface MadeCall {
  /** The function's logical id. */
  function: string;
  /** Actions, resources and the beginnings of partition keys, if there are any: each once, in alphabetical order. */
  touches: TableCall[];
}

/** Why a call is denied. */
export interface Denial {
  code: 'AccessDeniedException' | 'MissingAuthenticationTokenException';
  message: string;
}

/**
 * AWS rejects a call without a signature before it looks at policies. Here, such calls are of others: a port may have been that
 * of another server, whose callers still retry.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html
 */
const UNSIGNED: Denial = {
  code: 'MissingAuthenticationTokenException',
  message: 'Request must contain a valid (registered) AWS Access Key ID.',
};

interface RolesOptions {
  onLine: (source: string, line: string) => void;
  /** How IAM evaluates transactions. Default: per action. */
  transactionEvaluation?: TransactionEvaluation | undefined;
  /** Receives every kind of call once, allowed or denied. */
  onCall?: ((call: MadeCall) => void) | undefined;
}

export class Roles {
  readonly #options: RolesOptions;
  /** Kinds of calls so far, by their JSON. */
  readonly #made = new Map<string, MadeCall>();
  #template: Policies = { functions: [], mappings: [] };

  constructor(options: RolesOptions) {
    this.#options = options;
  }

  /** Sets the policies. The calls of event source mappings count as made. */
  judgeBy(template: Policies): void {
    this.#template = template;
    for (const { function: caller, needs } of template.mappings)
      for (const touch of needs) this.#record(caller, [touch]);
  }

  /** Why a call is denied; undefined if it is allowed. Logs a call that a policy denies. */
  denialOf(caller: string, touches: TableCall[]): Denial | undefined {
    if (caller === '') return UNSIGNED;
    if (caller !== OPERATOR) this.#record(caller, touches);
    const denied = deniedRequest(this.#policyOf(caller), touches, this.#options.transactionEvaluation ?? 'per action');
    if (denied === undefined) return undefined;
    const { action, resource, partitions } = denied;
    const keys = new Set(partitions.map((partition) => partition && beginningOf(partition)));
    const place = [resource, ...keys].filter(Boolean).join(' ');
    const message = `${caller} is not authorized to perform ${action} on ${place}`;
    this.#options.onLine(caller, JSON.stringify({ level: 'error', message: 'refused by policy', detail: message }));
    return { code: 'AccessDeniedException', message };
  }

  /** Rights that no call has needed so far, by function. */
  unusedRights(): Record<string, Right[]> {
    const made = Map.groupBy(this.#made.values(), ({ function: caller }) => caller);
    const unused = this.#template.functions.map(({ id, policy }): [string, Right[]] => {
      const used = new Set(made.get(id)?.flatMap(({ touches }) => rightsUsed(policy, touches)));
      return [id, rightsOf(policy).filter((right) => !used.has(right))];
    });
    return Object.fromEntries(unused.filter(([, rights]) => rights.length > 0));
  }

  #policyOf(caller: string): Statement[] {
    return this.#template.functions.find(({ id }) => id === caller)?.policy ?? [];
  }

  #record(caller: string, touches: TableCall[]): void {
    const kinds = new Set(touches.map((touch) => JSON.stringify(kindOf(touch))));
    const call: MadeCall = { function: caller, touches: [...kinds].sort().map((kind) => JSON.parse(kind)) };
    const name = JSON.stringify(call);
    if (this.#made.has(name)) return;
    this.#made.set(name, call);
    this.#options.onCall?.(call);
  }
}

/** A touch without ids: records may not contain more. */
const kindOf = ({ action, resource, partition }: TableCall): TableCall => ({
  action,
  // The names of objects are secret.
  resource: resource.replace(/^(arn:aws:s3:.*\/).*/s, '$1…'),
  ...(partition !== undefined && { partition: beginningOf(partition) }),
});

/** A partition key without its id: logs and records may not contain more. */
const beginningOf = (partition: string): string => partition.replace(/#.*/s, '#…');

/** The caller: the access key in the signature, if there is one. A function's access key is its logical id. */
export const callerOf = ({ authorization = '' }: IncomingHttpHeaders): string =>
  /Credential=(\w+)\//.exec(authorization)?.[1] ?? '';
