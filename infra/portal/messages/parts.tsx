/** A person and a status, as the list and a message show them. */
import { Chip, type Tone } from '../../web/parts.tsx';
import { spacedNumber } from '../../web/text.tsx';
import { messages as words } from '../words/messages.ts';
import { stepLabel } from '../words/outcomes.ts';
import { isErased, isFailure, personIn } from './log.ts';

/** `+44 7700 900001`; of an erased person, that it is one. */
export const personOf = (contact: string): string =>
  isErased(contact) ? words.erased : spacedNumber(personIn(contact));

const tones: Partial<Record<string, Tone>> = {
  delivered_to_server: 'business',
  delivered_to_user: 'ok',
  read: 'ok',
  received: 'ok',
};

export const Status = ({ state }: { state: string }) => (
  <Chip tone={isFailure(state) ? 'bad' : (tones[state] ?? 'plain')}>{stepLabel(state)}</Chip>
);

/** The steps of a message to a person, unless it fails. */
export const way = ['sent', 'delivered_to_server', 'delivered_to_user', 'read'];

/** How far a message to a person has got, as segments. The status beside it says it in words. */
export const Way = ({ state }: { state: string }) => {
  const reached = state === 'sending_failed' ? 1 : state === 'delivery_failed' ? 2 : way.indexOf(state) + 1;
  return (
    <span class="way" aria-hidden="true">
      {way.map((step, place) => (
        <span key={step} class={place < reached ? 'reached' : place === reached && isFailure(state) ? 'missed' : ''} />
      ))}
    </span>
  );
};
