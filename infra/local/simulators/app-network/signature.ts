/** The signature of the service's calls (Standard Webhooks), at the time of the stack: the library's check has real time. */
import { timingSafeEqual } from 'node:crypto';
import type { Webhook } from 'standardwebhooks';
import { now } from '../../../../shared/core/clock.ts';
import { ThreadClock } from '../../aws/time/thread-clock.ts';

/** Milliseconds of real time by which the time of a call may differ: as in the library. */
const TOLERANCE_MS = 300_000;

interface Signed {
  id: string;
  /** Seconds since 1970. */
  timestamp: string;
  /** Signatures with their version, separated by spaces. */
  signatures: string;
  body: Buffer;
}

/** Returns what is wrong with the signature of a call; undefined if one of the signatures is right. */
export const faultOfSignature = (webhook: Webhook, { id, timestamp, signatures, body }: Signed): string | undefined => {
  if (!id || !timestamp || !signatures) return 'a header is missing';
  const time = 1_000 * Number(timestamp);
  if (!Number.isInteger(time)) return 'the timestamp is no number';
  // A call takes its time also while the clock runs faster.
  const tolerance = TOLERANCE_MS * (ThreadClock.current()?.rate ?? 1);
  if (Math.abs(time - now()) > tolerance) return 'the timestamp differs by more than five minutes';
  const expected = Buffer.from(webhook.sign(id, new Date(time), body));
  const given = signatures.split(' ').map((signature) => Buffer.from(signature));
  const isRight = given.some((one) => one.length === expected.length && timingSafeEqual(one, expected));
  return isRight ? undefined : 'no signature matches';
};
