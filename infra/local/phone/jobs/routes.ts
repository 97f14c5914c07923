/** The routes of the Jobs view: its data, and the business's requests. */
import { demoBots } from '../../demo.ts';
import type { AppNetwork } from '../../simulators/app-network/app-network.ts';
import { Changes } from '../../simulators/changes.ts';
import { freshJson, httpError, noContent, parseJson } from '../../simulators/http.ts';
import { check } from '../../simulators/schemas.ts';
import type { Routes } from '../../simulators/server.ts';
import type { Business } from '../business.ts';
import { withAttempts } from './failures.ts';
import { JobList, type KnownJob } from './job-list.ts';
import { newJob, requestOf } from './new-job.ts';
import { PaceMeter } from './pace.ts';
import type { FailureCount, JobView } from './views.ts';

/** A campaign changes its counts many times a second: the page reads them again at most twice. */
const DELAY_MS = 500;

export class Jobs {
  /** Notified when jobs may have changed. */
  readonly changes = new Changes(DELAY_MS);
  readonly #network: AppNetwork;
  readonly #list: JobList;
  readonly #pace: PaceMeter;

  constructor(network: AppNetwork) {
    this.#network = network;
    this.#list = new JobList(demoBots, network.inbox);
    this.#pace = new PaceMeter(network);
  }

  /** Receives a parsed log line of the stack. */
  onLine(entry: unknown): void {
    const batch = this.#pace.add(entry);
    if (batch === undefined) return;
    // If the table cannot be read now, the next view reads what is still stored.
    void this.#list.learn(batch.account, batch.job_id).catch(() => undefined);
    this.onRequest();
  }

  /** A request to the service may have changed a job. */
  onRequest(): void {
    this.#list.forget();
    this.changes.notify();
  }

  /** @param businessOf - the business of an id; throws an HTTPException if there is none */
  addRoutes(routes: Routes, businessOf: (id: string) => Business): void {
    routes.get('/view/jobs', async () => freshJson(await this.#list.view()));
    routes.get('/view/jobs/:id', async ({ req }) => freshJson(await this.#viewOf(await this.#find(req.param('id')))));
    routes.get('/view/jobs/:id/failures/:reason', async ({ req }) => {
      const failures = (await this.#find(req.param('id'))).reasons.get(req.param('reason'));
      return freshJson(failures ? withAttempts(failures, this.#network.inbox) : []);
    });
    routes.post('/businesses/:business/jobs', async ({ req }) => {
      const job = check(newJob, parseJson(await req.text()));
      return Response.json(await businessOf(req.param('business')).startJob(requestOf(job)), { status: 201 });
    });
    routes.delete('/businesses/:business/jobs/:id', async ({ req }) => {
      await businessOf(req.param('business')).stopJob(req.param('id'));
      return noContent();
    });
  }

  async #find(id: string): Promise<KnownJob> {
    const job = await this.#list.find(id);
    if (job === undefined) throw httpError(404, 'There is no such job.');
    return job;
  }

  async #viewOf({ reasons, ...job }: KnownJob): Promise<JobView> {
    const failures = [...reasons].map(
      ([reason, found]): FailureCount => ({
        reason,
        count: found.count,
        traced: withAttempts(found, this.#network.inbox).some(({ attempts }) => attempts.length > 0),
      }),
    );
    return { ...job, curve: await this.#pace.curveOf(job.id), failures };
  }
}
