/** The settings of a webhook, and its signing secrets: the present one, and those that were replaced lately. */
import { randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { now } from '../core/clock.ts';
import { destinationUrl, signingSecret } from '../validation/schemas.ts';

/** The settings of a webhook. */
export const webhookSettings = v.object({ url: destinationUrl, secret: signingSecret });

/** A random signing secret. */
export const newSigningSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

/**
 * A replaced signing secret. It also signs until it expires, so that the customer has time to change to the new one.
 */
export interface PreviousSecret {
  secret: string;
  /** When it expires, in milliseconds since 1970. */
  until: number;
}

/** Milliseconds for which a replaced secret signs beside the new one. */
const OVERLAP_MS = 24 * 3_600_000;
/** Previous secrets that sign at the same time, at most: each makes requests 48 bytes longer. */
const MAX_PREVIOUS = 3;

/**
 * The previous secrets after a change, the newest first. A secret that is set again is no previous one.
 *
 * @param before - the secret before the change, if there was one, and those that it replaced
 */
export const previousSecrets = (
  before: { secret?: string | undefined; previous_secrets?: PreviousSecret[] | undefined },
  present: unknown,
): PreviousSecret[] => {
  const all = [
    ...(before.secret === undefined ? [] : [{ secret: before.secret, until: now() + OVERLAP_MS }]),
    ...(before.previous_secrets ?? []),
  ];
  return all
    .filter(({ secret, until }, index) => {
      const isRepeated = all.findIndex((one) => one.secret === secret) < index;
      return secret !== present && until > now() && !isRepeated;
    })
    .slice(0, MAX_PREVIOUS);
};

/** The previous secrets that have not expired. */
export const inUse = (previous: PreviousSecret[]): string[] =>
  previous.filter(({ until }) => until > now()).map(({ secret }) => secret);
