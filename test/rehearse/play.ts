/** Plays a small part of a load on the local stack, and measures the units of its messages. */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { openDatabase } from '../../infra/local/aws/database/database.ts';
import type { Inbox } from '../../infra/local/simulators/app-network/inbox.ts';
import { createAccount, updateAccount } from '../../infra/operator/queries/accounts-admin.ts';
import { issueToken } from '../../infra/operator/queries/tokens-admin.ts';
import { listJobs } from '../../shared/stats/job-counters.ts';
import { FrontDoor, textTo } from '../bench/front-door.ts';
import { Meter, noUnits, type Units } from '../bench/meter.ts';
import { say } from '../bench/report.ts';
import { startStopwatch, takeTimes } from '../bench/stopwatch.ts';
import { type Way, wayOf } from '../bench/usage.ts';
import { openWhole } from '../bench/whole.ts';
import { UNLIMITED } from '../support/unlimited.ts';
import type { Plan } from './predict.ts';

/** The functions that a message passes through. */
const FUNCTIONS = ['sendMessage', 'expand', 'relay', 'deliver', 'receiveAppEvents', 'count'];

/** States of a message that is delivered and read, and those of them that phones report. */
const STATES = 4;
const REPORTED = ['delivered_to_user', 'read'];

/** Most accounts that send, messages of each at least, and messages of the app network under way. */
const ACCOUNTS = 4;
const SHARE = 100;
const PARALLEL = 8;

/** A minute of the service in milliseconds. With failures, it is shorter, so that retries do not take as long as on AWS. */
const minuteOf = ({ failing }: Plan): number => (failing > 0 ? 8_000 : 60_000);

/** How often a request is made that fails: with a short minute, calls of functions may take too long. */
const ATTEMPTS = 5;
/** Milliseconds between two of them. */
const RETRY_MS = 500;

/**
 * Sends `plan.played` messages, reports each as read, and waits until all are counted.
 *
 * @returns units of a message by function, with milliseconds of an invocation on this machine, which was busy
 * @throws Error — no message has arrived or was counted for `plan.timeout` seconds; the message says how far it came
 */
export const play = async (plan: Plan): Promise<Way> => {
  const { accounts, played, profile, failing, timeout } = plan;
  startStopwatch();
  const database = await openDatabase(undefined);
  const meter = new Meter(database.endpoint);
  const { stack, simulators, demo, close } = await openWhole(await meter.listen(), {}, { minute: minuteOf(plan) });
  try {
    const door = new FrontDoor(stack, demo);
    const phones = Array.from({ length: played }, (_, place) => `4477${10_000_000 + place * 7}`);
    const senders = await Promise.all(
      Array.from({ length: sendersOf(accounts, played) }, (_, place) => openAccount(`rehearsal-${place}`)),
    );
    say(
      `Plays ${played} messages of ${senders.length === 1 ? 'an account' : `${senders.length} accounts`} on the local stack …`,
    );
    meter.take();
    takeTimes();
    if (failing > 0) simulators.app.faultRules.set({ status: 500, share: failing });
    const send = async (token: string, body: unknown): Promise<void> => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const init = {
        method: 'POST',
        headers: { ...headers, 'idempotency-key': randomUUID() },
        body: JSON.stringify(body),
      };
      await repeated(async () => {
        const response = await fetch(`${stack.baseUrl}/v1/message`, init);
        if (!response.ok) throw new Error(`A message was answered ${response.status}: ${await response.text()}`);
      });
    };
    const shares = senders.map((sender, place) => ({
      ...sender,
      to: phones.filter((_, each) => each % senders.length === place),
    }));
    await Promise.all(
      shares.map(async ({ token, to }) => {
        if (profile === 'campaign') await send(token, { ...textTo(''), to });
        else for (const phone of to) await send(token, textTo(phone));
      }),
    );
    const progress = new Progress(played, timeout);
    const waiting = [...phones];
    await Promise.all(
      Array.from({ length: PARALLEL }, async () => {
        for (let phone = waiting.shift(); phone !== undefined; phone = waiting.shift()) {
          const id = await arrivalOn(simulators.app.inbox, phone, progress);
          for (const state of REPORTED) await repeated(() => door.report('message.state', { id, state }));
        }
      }),
    );
    for (let counted = 0; counted < STATES * played; ) {
      counted = await countedOf(senders.map(({ id }) => id));
      progress.note('states counted', counted);
      await pause(200);
    }
    const units = meter.take();
    return wayOf(FUNCTIONS, (name) => divided(units.get(name) ?? noUnits(), played), played);
  } finally {
    await close();
    await meter.close();
    await database.close();
  }
};

/** How many accounts send: small batches would cost more for each message than those of the whole load. */
const sendersOf = (accounts: number, played: number): number =>
  Math.min(accounts, ACCOUNTS, Math.max(Math.floor(played / SHARE), 1));

const openAccount = async (id: string): Promise<{ id: string; token: string }> => {
  await createAccount({ name: id, id });
  await updateAccount(id, UNLIMITED);
  const { token } = await issueToken(id, { label: 'rehearsal', permissions: ['messages'] });
  return { id, token };
};

/** Makes a request, and again if it fails. */
const repeated = async (request: () => Promise<unknown>): Promise<void> => {
  for (let left = ATTEMPTS; left > 1; left -= 1) {
    try {
      await request();
      return;
    } catch {
      await pause(RETRY_MS);
    }
  }
  await request();
};

/** Whether a run goes on: fails if a number has not changed for a while. */
class Progress {
  readonly #reached = new Map<string, number>();
  readonly #played: number;
  readonly #timeout: number;
  #changed = Date.now();

  /** @param timeout - seconds */
  constructor(played: number, timeout: number) {
    this.#played = played;
    this.#timeout = timeout;
  }

  /** Notes how far the run is. @throws Error — nothing has changed for too long */
  note(what: string, reached: number): void {
    if (this.#reached.get(what) !== reached) this.#changed = Date.now();
    this.#reached.set(what, reached);
    if (Date.now() - this.#changed <= this.#timeout * 1_000) return;
    const state = [...this.#reached].map(([name, number]) => `${number} ${name}`).join(', ');
    throw new Error(
      `No progress for ${this.#timeout} s. Of ${this.#played} messages: ${state}. ` +
        'Fewer failures (--failing), or more time (--timeout SECONDS), may help.',
    );
  }

  /** One more message has arrived. */
  arrived(): void {
    this.note('on phones', (this.#reached.get('on phones') ?? 0) + 1);
  }

  /** A message has not arrived yet. */
  waiting(): void {
    this.note('on phones', this.#reached.get('on phones') ?? 0);
  }
}

/** Waits for the message on a phone. Returns its id. */
const arrivalOn = async (inbox: Inbox, phone: string, progress: Progress): Promise<string> => {
  for (;;) {
    const [message] = inbox.shownOn(phone);
    if (message !== undefined) {
      progress.arrived();
      return message.data.id;
    }
    progress.waiting();
    await pause(50);
  }
};

const countedOf = async (accounts: string[]): Promise<number> => {
  const day = new Date().toISOString().slice(0, 10);
  const jobs = await Promise.all(accounts.map((account) => listJobs(account, day, day)));
  return jobs.flat().reduce((total, { count }) => total + count, 0);
};

const divided = ({ calls, reads, writes, indexes }: Units, by: number): Units => ({
  calls: calls / by,
  reads: reads / by,
  writes: writes / by,
  indexes: indexes / by,
});
