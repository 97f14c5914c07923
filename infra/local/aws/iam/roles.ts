/** Holds calls against the roles of the functions that make them, and remembers which rights were needed. */
import type { IncomingHttpHeaders } from 'node:http';
import { type Right, refusedTouch, rightsFor, rightsOf, type Statement, type Touch } from './policies.ts';

/** The access key of those whom no role fences in. */
export const OPERATOR = 'operator';

/** What roles allow, and what event source mappings do by them. */
interface Judged {
  functions: { id: string; policy: Statement[] }[];
  /** By the id of the function whose role each uses. */
  mappings: { function: string; needs: Touch[] }[];
}

/** A kind of call that a function made: what it does, to what, and how the partition key begins, where there is one. */
export interface MadeCall extends Touch {
  /** The function's logical id. */
  function: string;
}

interface Told {
  onLine: (source: string, line: string) => void;
  /** Takes every kind of call once, whether it is allowed or not. */
  onCall?: ((call: MadeCall) => void) | undefined;
}

export class Roles {
  readonly #told: Told;
  readonly #made = new Set<string>();
  readonly #used = new Set<string>();
  #template: Judged = { functions: [], mappings: [] };

  constructor(told: Told) {
    this.#told = told;
  }

  /** Judges by these policies from now on. What event source mappings do by a function's role counts as needed. */
  judgeBy(template: Judged): void {
    this.#template = template;
    for (const { function: caller, needs } of template.mappings) this.#use(caller, needs);
  }

  /** Why the caller may not do all of this; nothing, if it may. A rejected call is logged. */
  refusal(caller: string, touches: Touch[]): string | undefined {
    const refused = this.#use(caller, touches);
    if (refused === undefined) return undefined;
    const { action, resource, partition } = refused;
    const place = [resource, partition && beginningOf(partition)].filter(Boolean).join(' ');
    const message = `${caller} is not authorized to perform ${action} on ${place}`;
    this.#told.onLine(caller, JSON.stringify({ level: 'error', message: 'refused by policy', detail: message }));
    return message;
  }

  /** Rights that nothing has needed so far, by function. */
  unusedRights(): Record<string, Right[]> {
    const unused = this.#template.functions.map(({ id, policy }): [string, Right[]] => [
      id,
      rightsOf(policy).filter((right) => !this.#used.has(`${id} ${right}`)),
    ]);
    return Object.fromEntries(unused.filter(([, rights]) => rights.length > 0));
  }

  /** Notes the rights that the touches need. Answers the first that the caller has no right to. */
  #use(caller: string, touches: Touch[]): Touch | undefined {
    const policy = this.#template.functions.find(({ id }) => id === caller)?.policy ?? [];
    if (caller !== OPERATOR) for (const touch of touches) this.#note(caller, touch);
    for (const right of touches.flatMap((touch) => rightsFor(policy, touch))) this.#used.add(`${caller} ${right}`);
    return refusedTouch(policy, touches);
  }

  #note(caller: string, { action, resource, partition }: Touch): void {
    const call: MadeCall = {
      function: caller,
      action,
      // The names of objects are secrets.
      resource: resource.replace(/^(arn:aws:s3:.*\/).*/s, '$1…'),
      ...(partition !== undefined && { partition: beginningOf(partition) }),
    };
    const name = JSON.stringify(call);
    if (this.#made.has(name)) return;
    this.#made.add(name);
    this.#told.onCall?.(call);
  }
}

/** A partition key without what it is of: all that a log or a record may hold. */
const beginningOf = (partition: string): string => partition.replace(/#.*/s, '#…');

/** Who makes a call: the access key in its signature, which for a function is its logical id. */
export const callerOf = ({ authorization = '' }: IncomingHttpHeaders): string =>
  /Credential=(\w+)\//.exec(authorization)?.[1] ?? '';
