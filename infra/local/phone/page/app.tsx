/** The page: the list of phones, a phone's conversation or profile, and the service's work. */
import { useEffect, useState } from 'preact/hooks';
import type { PhoneSummary, PhoneView, Setup } from '../views.ts';
import { Chat } from './chat/chat.tsx';
import { Phones } from './chat/phones.tsx';
import { Profile } from './chat/profile.tsx';
import { type Connection, useLive, useView } from './data/live.ts';
import { useOutbox } from './data/outbox.ts';
import { useReports } from './data/reports.ts';
import { ServicePanel } from './panel/service-panel.tsx';
import { numberOf } from './text.tsx';

const panes = { phones: 'Phones', chat: 'Chat', profile: 'Profile', service: 'Service' };
type Pane = keyof typeof panes;

/** From this width on, the page shows all panes. */
const WIDE = '(min-width: 62.5rem)';

/** Whether the page is visible. */
const useVisible = (): boolean => {
  const [visible, setVisible] = useState(!document.hidden);
  useEffect(() => {
    const look = () => setVisible(!document.hidden);
    document.addEventListener('visibilitychange', look);
    return () => document.removeEventListener('visibilitychange', look);
  }, []);
  return visible;
};

const useWide = (): boolean => {
  const [wide, setWide] = useState(matchMedia(WIDE).matches);
  useEffect(() => {
    const query = matchMedia(WIDE);
    const look = () => setWide(query.matches);
    query.addEventListener('change', look);
    return () => query.removeEventListener('change', look);
  }, []);
  return wide;
};

/** The phone in the page's URL, which a reload keeps. */
const phoneInAddress = (): string => new URLSearchParams(location.search).get('phone') ?? '';

export const App = () => {
  const { connection, versions } = useLive();
  const setup = useView<Setup>('/view/setup', Math.min(versions.phones, 1));
  const phones = useView<PhoneSummary[]>('/view/phones', versions.phones);
  const [chosen, setChosen] = useState(phoneInAddress);
  const [pane, setPane] = useState<Pane>('chat');
  const [reporting, setReporting] = useState(true);
  const outbox = useOutbox();
  const wide = useWide();
  const visible = useVisible();

  const phone = chosen || setup?.demo_phone || '';
  const view = useView<PhoneView>(`/view/phones/${phone}`, phone ? versions.phones : 0);
  const chatSeen = visible && (pane === 'chat' || (wide && pane !== 'profile'));
  useReports({ phones: phones ?? [], reading: chatSeen ? phone : undefined, on: reporting && connection === 'live' });

  const open = (number: string) => {
    setChosen(number);
    setPane('chat');
    history.replaceState(null, '', `?phone=${number}`);
  };

  return (
    <div class="page" data-pane={pane}>
      <a class="skip" href="#message">
        Skip to writing a message
      </a>
      <header class="top">
        <h1>
          Phone <span class="quiet">of the local stack</span>
        </h1>
        <label class="switch">
          <input type="checkbox" checked={reporting} onChange={() => setReporting(!reporting)} />
          <span>Report delivery and reading</span>
        </label>
        <Status connection={connection} />
      </header>
      <Phones phones={phones} demo={setup?.demo_phone} open={phone} onOpen={open} />
      <main class="main">
        <div class="main-head">
          <div>
            <h2>{phone ? numberOf(phone) : '…'}</h2>
            <p class="quiet">{phone === setup?.demo_phone ? 'The demo user: you' : 'An app user: you'}</p>
          </div>
          <button
            type="button"
            class="plain wide-only"
            aria-pressed={pane === 'profile'}
            onClick={() => setPane(pane === 'profile' ? 'chat' : 'profile')}
          >
            Profile
          </button>
        </div>
        {setup && view && pane === 'profile' && <Profile key={phone} phone={phone} user={view.user} setup={setup} />}
        {setup && view && pane !== 'profile' && (
          <Chat key={phone} phone={phone} view={view} setup={setup} outbox={outbox} reporting={reporting} />
        )}
        {!(setup && view) && (
          <p class="hint">{connection === 'lost' ? 'The local stack does not respond.' : 'Loading …'}</p>
        )}
      </main>
      <ServicePanel versions={versions} />
      <nav class="panes" aria-label="Parts of the page">
        {(Object.keys(panes) as Pane[]).map((name) => (
          <button
            type="button"
            key={name}
            aria-current={name === pane ? 'page' : undefined}
            onClick={() => setPane(name)}
          >
            {panes[name]}
          </button>
        ))}
      </nav>
    </div>
  );
};

const statusTexts: Record<Connection, string> = {
  connecting: 'Connecting …',
  live: 'Live',
  lost: 'Offline: reconnecting',
};

const Status = ({ connection }: { connection: Connection }) => (
  <p class={`status ${connection}`} role="status">
    {statusTexts[connection]}
  </p>
);
