/** The jobs of the demo's accounts: today's, and earlier ones that have not ended. */
import { timestamp } from '../../../../shared/core/clock.ts';
import { inParallel } from '../../../../shared/core/parallel.ts';
import { Problem } from '../../../../shared/core/problems.ts';
import { listJobs } from '../../../../shared/stats/job-counters.ts';
import { type JobStatus, readJobStatus } from '../../../../shared/stats/job-status.ts';
import { namedJobs } from '../../../operator/queries/jobs-admin.ts';
import type { Inbox } from '../../simulators/app-network/inbox.ts';
import { defaultJobsOfToday, summed } from '../funnel.ts';
import { compare, isoOf } from '../times.ts';
import type { Bot } from '../views.ts';
import { type Failures, readFailures } from './failures.ts';
import { beginningOf, type JobBeginning } from './first-message.ts';
import { partsOf, sentOf } from './parts.ts';
import type { JobListView, JobSummary, JobView } from './views.ts';

export type Account = Pick<Bot, 'id' | 'name'>;

/** A job without what changes each second. */
export type KnownJob = Omit<JobView, 'curve' | 'failures'> & { reasons: Map<string, Failures> };

/** How far ahead a job may be scheduled, in milliseconds. */
const AHEAD_MS = 35 * 86_400_000;
/** Jobs that are read at a time. */
const TOGETHER = 5;
const ORDER: JobSummary['status'][] = ['running', 'scheduled', 'completed', 'stopped', 'open'];

export class JobList {
  readonly #accounts: Account[];
  readonly #inbox: Inbox;
  readonly #beginnings = new Map<string, JobBeginning>();
  /** Jobs at rest, with their counts: they are not read again until these change. */
  #resting = new Map<string, { counts: string; job: KnownJob }>();
  #failures = new Map<string, { total: number; reasons: Map<string, Failures> }>();
  #reading: Promise<KnownJob[]> | undefined;

  constructor(accounts: Account[], inbox: Inbox) {
    this.#accounts = accounts;
    this.#inbox = inbox;
  }

  /** A job has a new batch: reads how it began, which the service does not store for long. */
  async learn(account: string, job: string): Promise<void> {
    if (!this.#beginnings.has(job)) await this.#beginningOf({ id: account }, job);
  }

  /** A request has changed a job, perhaps one at rest. */
  forget(): void {
    this.#resting = new Map();
  }

  async view(): Promise<JobListView> {
    return { day: timestamp().slice(0, 10), jobs: (await this.#jobs()).map(summaryOf) };
  }

  /** A job, also of an earlier day; undefined if no account has it. */
  async find(id: string): Promise<KnownJob | undefined> {
    const listed = (await this.#jobs()).find((job) => job.id === id);
    if (listed !== undefined) return listed;
    for (const account of this.#accounts) {
      const job = await this.#readNamed(account, id, {});
      if (job !== undefined) return job;
    }
    return undefined;
  }

  /** Requests at the same time share one reading. */
  #jobs(): Promise<KnownJob[]> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #read(): Promise<KnownJob[]> {
    const found = (await Promise.all(this.#accounts.map((account) => this.#readAll(account)))).flat();
    return found.sort(
      (a, b) =>
        ORDER.indexOf(a.status) - ORDER.indexOf(b.status) ||
        (a.status === 'scheduled' ? compare(a.start, b.start) : compare(b.start, a.start)) ||
        compare(a.id, b.id),
    );
  }

  async #readAll(account: Account): Promise<KnownJob[]> {
    const present = timestamp();
    const today = present.slice(0, 10);
    const earliest = new Date(Date.parse(today) - AHEAD_MS).toISOString().slice(0, 10);
    const active = Map.groupBy(await listJobs(account.id, today, today), ({ job_id }) => job_id);
    const sources = defaultJobsOfToday(account.id, present);
    const named = new Set([...active.keys(), ...(await namedJobs(account.id, earliest, today))]);
    const found: KnownJob[] = [];
    await inParallel([...named], TOGETHER, async (id) => {
      const counts = summed(active.get(id) ?? []);
      const source = sources.get(id);
      const job =
        source === undefined
          ? await this.#readNamed(account, id, counts)
          : openJob(account, { id, source, counts, today });
      if (job !== undefined && (active.has(id) || job.created >= today || !isAtRest(job))) found.push(job);
    });
    return found;
  }

  /** A job that a request named; undefined if the account does not have it. */
  async #readNamed(account: Account, id: string, counts: Record<string, number>): Promise<KnownJob | undefined> {
    const before = this.#resting.get(id);
    const present = JSON.stringify(counts);
    if (before?.counts === present) return before.job;
    const status = await readJobStatus(account.id, id).catch((error: unknown) => {
      if (error instanceof Problem && error.code === 'job_not_found') return undefined;
      throw error;
    });
    if (status === undefined) return undefined;
    const job = knownJob(account, {
      status,
      beginning: await this.#beginningOf(account, id),
      reasons: await this.#reasonsOf(account, status),
    });
    if (isAtRest(job)) this.#resting.set(id, { counts: present, job });
    return job;
  }

  async #beginningOf(account: Pick<Account, 'id'>, id: string): Promise<JobBeginning> {
    const known = this.#beginnings.get(id) ?? (await beginningOf(account.id, id, this.#inbox));
    if (known.title !== null) this.#beginnings.set(id, known);
    return known;
  }

  async #reasonsOf(account: Account, { job_id, states }: JobStatus): Promise<Map<string, Failures>> {
    const total = (states.sending_failed ?? 0) + (states.delivery_failed ?? 0);
    if (total === 0) return new Map();
    const known = this.#failures.get(job_id);
    if (known?.total === total) return known.reasons;
    const reasons = await readFailures(account.id, job_id);
    this.#failures.set(job_id, { total, reasons });
    return reasons;
  }
}

const isAtRest = ({ status, parts }: KnownJob): boolean =>
  status === 'completed' || (status === 'stopped' && parts.pending + parts.not_sent === 0);

/** What the service tells of a job that a request named. */
interface NamedJob {
  status: JobStatus;
  beginning: JobBeginning;
  reasons: Map<string, Failures>;
}

const knownJob = (account: Account, { status: found, beginning, reasons }: NamedJob): KnownJob => {
  const { job_id, status, created, start, cancelled, recipients, states, pace, estimated_end } = found;
  const parts = partsOf(states, recipients, reasons.get('cancelled')?.count ?? 0);
  return {
    id: job_id,
    business: { id: account.id, name: account.name },
    ...beginning,
    title: beginning.title ?? `Job ${job_id.slice(0, 8)}`,
    source: null,
    status: status === 'cancelled' ? 'stopped' : status,
    people: recipients,
    sent: sentOf(parts),
    start: isoOf(start),
    estimated_end: estimated_end === undefined ? null : isoOf(estimated_end),
    created: isoOf(created),
    stopped: cancelled === undefined ? null : isoOf(cancelled),
    parts,
    counts: states,
    pace: pace ?? null,
    reasons,
  };
};

/** A job of today's messages without a job, and its counts. */
interface DefaultJob {
  id: string;
  source: string;
  counts: Record<string, number>;
  today: string;
}

/** The job of today's messages without a job. */
const openJob = (account: Account, { id, source, counts, today }: DefaultJob): KnownJob => {
  const people = Math.max(counts.sent ?? 0, counts.received ?? 0);
  const parts = partsOf(counts, counts.sent ?? 0, 0);
  return {
    id,
    business: { id: account.id, name: account.name },
    title: null,
    request: null,
    priority: null,
    source,
    status: 'open',
    people,
    sent: sentOf(parts),
    start: `${today}T00:00:00.000Z`,
    estimated_end: null,
    created: `${today}T00:00:00.000Z`,
    stopped: null,
    parts,
    counts,
    pace: null,
    reasons: new Map(),
  };
};

/** The part of a job that the list shows. */
const summaryOf = (job: KnownJob): JobSummary => {
  const { request, priority, created, stopped, parts, counts, pace, reasons, ...summary } = job;
  return summary;
};
