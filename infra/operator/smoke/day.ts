/** What the steps of a smoke test share: the deployment, the temporary account, and how to wait for workers. */
import { setTimeout as pause } from 'node:timers/promises';
import { now } from '../../../shared/core/clock.ts';
import { type Hosts, StepFailure } from './http.ts';
import type { PlatformServer } from './platform-server.ts';
import type { Run } from './run.ts';

/** The tokens of the temporary account. */
export interface Tokens {
  /** Without the permission `bridge`. */
  api: string;
  bridge: string;
  /** Of the app network. */
  app: string;
}

export interface Day {
  run: Run;
  hosts: Hosts;
  tokens: Tokens;
  /** The URL of the API host, for a chat platform that does not exist. */
  baseUrl: string;
  /** Takes the place of the chat platforms; undefined if the deployment cannot call this machine. */
  platformServer: PlatformServer | undefined;
  /** Whether the number of the user was given: the app network knows it. */
  knownUser: boolean;
  /** Whether to leave out what needs the app network's response. */
  withoutAppNetwork: boolean;
  /** How long to wait for workers, in milliseconds. */
  timeoutMs: number;
  signal: AbortSignal;
  /** What earlier steps found, for later ones. */
  found: { mediaUrl?: string; message?: string; request?: string; isAccepted?: boolean };
}

export interface Step {
  /** What is tested, as the table prints it. */
  title: string;
  /** Names of the steps that must have passed. */
  needs?: readonly string[];
  /** Whether the step needs the app network's response. */
  ofAppNetwork?: true;
  /** Returns more about the result, for the table. @throws StepFailure — the deployment does not work */
  run: (day: Day) => Promise<string | undefined>;
}

/** Milliseconds of the first pause between two looks, the growth of each next one, and the longest. */
const LOOKS = { first: 100, growth: 1.4, longest: 2_000 };

/**
 * Waits until `look` returns something.
 *
 * @param missing - says what is still missing, after the timeout
 * @throws StepFailure — nothing was found in time
 */
export const untilFound = async <Found>(
  { timeoutMs, signal }: Pick<Day, 'timeoutMs' | 'signal'>,
  look: () => Promise<Found | undefined>,
  missing: () => string | Promise<string>,
): Promise<Found> => {
  const end = now() + timeoutMs;
  for (let step = LOOKS.first; ; step = Math.min(step * LOOKS.growth, LOOKS.longest)) {
    const found = await look();
    if (found !== undefined) return found;
    if (now() >= end) throw new StepFailure(`after ${timeoutMs / 1_000} s: ${await missing()}`);
    await pause(step, undefined, { signal });
  }
};
