/** The name and the status of a campaign: a word and an icon. */
import { Chip, type Tone } from '../../web/parts.tsx';
import { dateOf, whenOf } from '../../web/text.tsx';
import { campaign as words } from '../words/outcomes.ts';
import type { ListedJob, Status } from './watch.ts';

/** The name of a campaign; that of a day for the messages of no campaign. */
export const titleOf = (
  id: string,
  job: (Pick<ListedJob, 'reference' | 'created'> & { day?: string | undefined }) | undefined,
): string => {
  if (job === undefined) return words.job(id);
  const { reference, created, day } = job;
  return reference ?? (day === undefined ? words.unnamed(whenOf(created)) : words.ofDay(dateOf(`${day}T12:00:00`)));
};

const tones: Record<Status, Tone> = {
  scheduled: 'plain',
  waiting: 'warn',
  running: 'business',
  completed: 'ok',
  cancelled: 'warn',
};

export const StatusChip = ({ status }: { status: Status }) => <Chip tone={tones[status]}>{words.status[status]}</Chip>;
