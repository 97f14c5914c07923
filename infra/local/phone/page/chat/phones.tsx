/** The list of phones, and a form to open another one. */
import { useState } from 'preact/hooks';
import type { PhoneSummary } from '../../views.ts';
import { numberOf, Time } from '../text.tsx';

interface PhonesProps {
  phones: PhoneSummary[] | undefined;
  demo: string | undefined;
  open: string;
  onOpen: (phone: string) => void;
}

export const Phones = ({ phones = [], demo, open, onOpen }: PhonesProps) => {
  const [number, setNumber] = useState('');
  // The demo user's phone and the open one are listed even before their first message.
  const offered = [demo, open].filter((one): one is string => Boolean(one));
  const missing = [...new Set(offered)].filter((one) => !phones.some(({ phone }) => phone === one));
  const all = [...phones, ...missing.map(unknownPhone)];
  return (
    <nav class="phones" aria-label="Phones">
      <h2>Phones</h2>
      <ul>
        {all.map((summary) => (
          <li key={summary.phone}>
            <Entry {...summary} isDemo={summary.phone === demo} isOpen={summary.phone === open} onOpen={onOpen} />
          </li>
        ))}
      </ul>
      <form
        class="open"
        onSubmit={(event) => {
          event.preventDefault();
          onOpen(number.replace(/\D/g, ''));
          setNumber('');
        }}
      >
        <label for="number">Open any number</label>
        <div class="row">
          <input
            id="number"
            inputMode="tel"
            required
            pattern="\+?[0-9 ]{7,20}"
            title="7 to 15 digits, in international format"
            placeholder="447700900002"
            value={number}
            onInput={({ currentTarget }) => setNumber(currentTarget.value)}
          />
          <button type="submit">Open</button>
        </div>
      </form>
    </nav>
  );
};

const unknownPhone = (phone: string): PhoneSummary => ({ phone, last: null, undelivered: [], unread: [], asks: 0 });

interface EntryProps extends PhoneSummary {
  isDemo: boolean;
  isOpen: boolean;
  onOpen: (phone: string) => void;
}

const Entry = ({ phone, last, unread, asks, isDemo, isOpen, onOpen }: EntryProps) => (
  <button type="button" class="phone" aria-current={isOpen ? 'true' : undefined} onClick={() => onOpen(phone)}>
    <span class="avatar" aria-hidden="true">
      {phone.slice(-2)}
    </span>
    <span class="about">
      <span class="line">
        <strong>{numberOf(phone)}</strong>
        {last && <Time at={last.time} />}
      </span>
      <span class="line">
        <span class="last">{last?.text ?? (isDemo ? 'The demo user: write to a bot' : 'Nothing yet')}</span>
        {unread.length > 0 && (
          <span class="badge">
            {unread.length}
            <span class="unseen"> unread</span>
          </span>
        )}
        {asks > 0 && <span class="badge ask">asked</span>}
      </span>
    </span>
  </button>
);
