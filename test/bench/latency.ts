/**
 * The latency of messages on the local stack, from the response of the API to the call of the app network: one message after
 * the other, and of 50 conversations at the same time. `BENCH_BEFORE` is a folder with an earlier version of this repository,
 * which takes part in turns.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { PhoneMessage } from '../../infra/local/simulators/app-network/inbox.ts';
import { type Figure, median, quantile, report, say, times } from './report.ts';
import type { Version } from './serve-version.ts';

/** Rounds, in each of which every version has its turn; messages one by one; conversations, and messages of each. */
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 8);
const SINGLES = 25;
const CONVERSATIONS = 50;
const MESSAGES = 4;

const SERVE = fileURLToPath(new URL('./serve-version.ts', import.meta.url));
const HERE = fileURLToPath(new URL('../../', import.meta.url));

interface Contestant extends Version {
  process: ChildProcess;
  /** Milliseconds by round. */
  singles: number[][];
  together: number[][];
}

const start = async (folder: string): Promise<Contestant> => {
  const child = fork(SERVE, [folder], { cwd: folder });
  const [version] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => Promise.reject(new Error(`The version in ${folder} does not start.`))),
  ])) as [Version];
  return { ...version, process: child, singles: [], together: [] };
};

let phones = 0;
const newPhone = (): string => {
  phones += 1;
  return `4477${String(phones).padStart(8, '0')}`;
};

const send = async ({ baseUrl, token }: Version, to: string): Promise<void> => {
  const response = await fetch(`${baseUrl}/v1/message`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ to, type: 'text', text: { body: 'Hello' } }),
  });
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`A message was answered ${response.status}.`);
};

/** Milliseconds between two looks at a phone. */
const LOOK = { alone: 2, together: 25 };

/** Sends a message, and waits until the phone shows so many. Returns the milliseconds from its acceptance to its delivery. */
const latencyOf = async (version: Version, to: string, count: number, look: number): Promise<number> => {
  await send(version, to);
  const accepted = Date.now();
  for (;;) {
    const response = await fetch(`${version.phoneUrl}/phones/${to}/messages`);
    const shown = (await response.json()) as PhoneMessage[];
    const last = shown.at(-1);
    if (shown.length >= count && last !== undefined) return Math.max(Date.parse(last.received) - accepted, 0);
    await pause(look);
  }
};

const oneByOne = async (version: Version): Promise<number[]> => {
  const found: number[] = [];
  for (let done = 0; done < SINGLES; done += 1) found.push(await latencyOf(version, newPhone(), 1, LOOK.alone));
  return found;
};

const conversations = async (version: Version): Promise<number[]> => {
  const found: number[] = [];
  await Promise.all(
    Array.from({ length: CONVERSATIONS }, async () => {
      const to = newPhone();
      for (let count = 1; count <= MESSAGES; count += 1) {
        found.push(await latencyOf(version, to, count, LOOK.together));
      }
    }),
  );
  return found;
};

const { BENCH_BEFORE: before } = process.env;
const contestants: [string, Contestant][] = [['this version', await start(HERE)]];
try {
  if (before !== undefined) contestants.push(['before', await start(before)]);
  for (const [, version] of contestants) {
    await oneByOne(version);
    await conversations(version);
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    say(`latency: round ${round + 1} of ${ROUNDS}`);
    // Each version is first in every second round.
    for (const [, version] of round % 2 === 0 ? contestants : contestants.toReversed()) {
      version.singles.push(await oneByOne(version));
      version.together.push(await conversations(version));
    }
  }
  const [[, now], [, earlier] = []] = contestants as [[string, Contestant], [string, Contestant]?];
  const ratioOf = (what: string, value: (version: Contestant) => number[]): Figure[] =>
    earlier === undefined
      ? []
      : [
          {
            what: `${what}: times the version before`,
            unit: '×',
            ...median(value(now).map((ms, round) => ms / (value(earlier)[round] ?? Number.NaN))),
          },
        ];
  report('latency', [
    ...contestants.flatMap(([name, { singles, together }]) => [
      times(`${name}: accepted to delivered, one by one`, singles.flat()),
      times(`${name}: ${CONVERSATIONS} conversations at the same time`, together.flat()),
    ]),
    ...ratioOf('the median of a round, one by one', ({ singles }) => singles.map((each) => quantile(each, 0.5))),
    ...ratioOf(`p99 of a round, ${CONVERSATIONS} conversations`, ({ together }) =>
      together.map((each) => quantile(each, 0.99)),
    ),
  ]);
} finally {
  for (const [, { process: child }] of contestants) child.disconnect();
}
