/** The status of a campaign: a word and an icon. */
import { Chip, type Tone } from '../../web/parts.tsx';
import { whenOf } from '../../web/text.tsx';
import type { BodyFrom } from '../client.ts';
import { campaigns } from '../words/campaigns.ts';

export type Job = NonNullable<BodyFrom<'readJob'>>;

/** The name of a campaign. */
export const titleOf = (id: string, job: Job | undefined): string =>
  job === undefined ? campaigns.list.job(id) : (job.reference ?? campaigns.list.unnamed(whenOf(job.created)));

type Status = keyof typeof campaigns.status;

/** Outside its sending hours, a campaign is paused. */
const statusOf = ({ status, waits_until }: Job): Status =>
  status === 'running' && waits_until !== undefined ? 'waiting' : status;

const tones: Record<Status, Tone> = {
  scheduled: 'plain',
  waiting: 'warn',
  running: 'business',
  completed: 'ok',
  cancelled: 'warn',
};

export const StatusChip = ({ job }: { job: Job }) => (
  <Chip tone={tones[statusOf(job)]}>{campaigns.status[statusOf(job)]}</Chip>
);
