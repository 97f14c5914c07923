/** The data of the Jobs view: each view is the response of `GET /view/jobs…`. Times are ISO 8601 in UTC. */

/** `/view/jobs` */
export interface JobListView {
  /** Today, UTC: `YYYY-MM-DD`. */
  day: string;
  /** Today's jobs, and earlier ones that have not ended: running, scheduled, then the others, the latest first. */
  jobs: JobSummary[];
}

export interface JobSummary {
  id: string;
  business: { id: string; name: string };
  /** The text of the first message; null for messages without a job. */
  title: string | null;
  /** Of messages without a job, where they came from: `sent over the API`. */
  source: string | null;
  /** `open`: messages without a job are added all day. */
  status: 'scheduled' | 'running' | 'completed' | 'stopped' | 'open';
  /** The number of messages of the job. */
  people: number;
  /** How many of them were sent: they are delivered, pending, or failed. */
  sent: number;
  /** When the first one was or will be sent. */
  start: string;
  /** When none will be pending at the present pace, if it is known. */
  estimated_end: string | null;
}

/** `/view/jobs/{id}` */
export interface JobView extends JobSummary {
  /** The request that began it; null for messages without a job, or if it is not known any more. */
  request: 'POST /v1/message' | 'POST /v1/messages' | null;
  priority: 'high' | 'medium' | 'low' | null;
  created: string;
  stopped: string | null;
  parts: JobParts;
  /** How many messages reached each state. */
  counts: Record<string, number>;
  /** Messages per second that the app network accepted lately. */
  pace: number | null;
  curve: PaceCurve;
  /** The most frequent one first. */
  failures: FailureCount[];
}

/** The messages of a job by what became of them. Each message is in one part. */
export interface JobParts {
  read: number;
  delivered_to_user: number;
  delivered_to_server: number;
  pending: number;
  failed: number;
  /** Ended because the job was stopped. */
  stopped: number;
  not_sent: number;
}

/** The messages that the app network accepted in each of the last 30 seconds, the oldest first. */
export interface PaceCurve {
  /** Messages per second, each a mean of three seconds. */
  values: number[];
  /** What disturbed the app network, by the position of the second. */
  notes: Record<number, string>;
}

export interface FailureCount {
  /** A reason code of the API. */
  reason: string;
  count: number;
  /** Whether one of the latest failures has attempts, which can be shown. */
  traced: boolean;
}

/** A failed message: `/view/jobs/{id}/failures/{reason}`, the latest first. */
export interface FailureView {
  id: string;
  phone: string;
  time: string;
  attempts: { time: string; outcome: string; taken: boolean }[];
}
