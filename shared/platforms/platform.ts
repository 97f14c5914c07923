/** What a chat platform is to the service. One file for each, in this folder; `platforms.ts` lists them. */
import * as v from 'valibot';
import type { Entry } from '../outbox.ts';
import { notSetUp, type Posting } from '../post.ts';
import type { Receiver } from '../receiver.ts';

/** How the service talks to an account's platform. */
export interface Platform {
  /** What an operator sets for an account, checked. @throws v.ValiError — with what is wrong */
  check(settings: unknown): object;
  /** Hands entries over, by an account's settings. */
  receiver(settings: unknown): Pick<Receiver, 'posting' | 'judge'>;
}

/** Describes a platform by the shape of its settings, and how it is told what it is told. */
export const describePlatform = <const Schema extends v.ObjectSchema<v.ObjectEntries, undefined>>(
  settings: Schema,
  {
    posting,
    judge,
  }: { posting: (entry: Entry, settings: v.InferOutput<Schema>) => Posting | undefined } & Pick<Receiver, 'judge'>,
): Platform => ({
  check: (given) => v.parse(settings, given),
  receiver: (given) => {
    const { success, output } = v.safeParse(settings, given);
    if (!success) return { posting: notSetUp };
    return { posting: (entry) => posting(entry, output), ...(judge && { judge }) };
  },
});
