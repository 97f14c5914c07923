/** What the switches of destinations are called, and what they do. */
import { counted } from '../../../../web/figures.ts';
import { type DestinationView, type Mode, modes } from '../../destinations/views.ts';

export const modeWords: Record<DestinationView['mode'], string> = {
  normal: 'Normal',
  slow: 'Slow',
  failing: 'Failing',
  loses_responses: 'Loses responses',
  offline: 'Offline',
  other: 'Own rules',
};

/** What a position does, for the menu. */
export const modeEffects: Record<Mode, string> = {
  normal: 'Answers each call at once.',
  slow: 'Answers after 4 seconds.',
  failing: 'Answers 503, and accepts nothing.',
  loses_responses: 'Accepts the call, and closes the connection without a response.',
  offline: 'Closes the connection, and accepts nothing.',
};

/** What a destination does, after its name. */
const states: Record<DestinationView['mode'], string> = {
  normal: 'is normal',
  slow: 'is slow',
  failing: 'is failing',
  loses_responses: 'loses responses',
  offline: 'is offline',
  other: 'has fault rules of its own',
};

/** `RapidPro is failing` */
export const stateOf = ({ name, mode }: DestinationView): string => `${name} ${states[mode]}`;

/** What a destination that rejects answers, as a sentence with a space after it; otherwise empty. */
export const answerOf = ({ mode }: DestinationView): string => (mode === 'failing' ? 'It answers 503. ' : '');

export const shares = [
  { share: 1, label: 'All calls' },
  { share: 0.5, label: 'Half of the calls' },
  { share: 0.33, label: 'A third of the calls' },
  { share: 0.1, label: 'A tenth of the calls' },
];

/** `, for a third of the calls of one user` */
export const scopeOf = ({ share, phone }: Pick<DestinationView, 'share' | 'phone'>): string => {
  const part = share === 1 ? '' : (shares.find((one) => one.share === share)?.label ?? `${share * 100} % of the calls`);
  if (phone !== null) return `, for ${part === '' ? 'the calls' : part.toLowerCase()} of one user`;
  return part === '' ? '' : `, for ${part.toLowerCase()}`;
};

/** `3 messages`, or `2 notifications` */
export const waitingWords = ({ pending, others }: Pick<DestinationView, 'pending' | 'others'>): string =>
  pending > 0 ? counted(pending, 'message', 'messages') : counted(others, 'notification', 'notifications');

/** Whether something waits for a retry. */
export const isWaiting = ({ pending, others }: DestinationView): boolean => pending + others > 0;

/** The positions that a person can choose. `other` is shown only while it is set. */
export const choicesFor = (mode: DestinationView['mode']): DestinationView['mode'][] =>
  mode === 'other' ? [...modes, 'other'] : [...modes];
