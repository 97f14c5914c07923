/** The consent centre: what each business knows about the user, until when, and whether it may send messages. */
import { useState } from 'preact/hooks';
import { Icon } from '../../../../web/icons.tsx';
import { Skeleton } from '../../../../web/parts.tsx';
import { dateOf, plain } from '../../../../web/text.tsx';
import type { ConsentView, KnownProperty, PhoneView, RequestItem } from '../../views.ts';
import { BusinessAvatar } from '../avatars.tsx';
import { describeError, submit } from '../data/api.ts';
import { useView } from '../data/live.ts';
import { Known } from './known-property.tsx';

interface ConsentsProps {
  phone: string;
  /** How often consents may have changed. */
  version: number;
  view: PhoneView;
  online: boolean;
  /** Opens the chat of this business. */
  onAnswer: (chat: string) => void;
}

export const Consents = ({ phone, version, view, online, onAnswer }: ConsentsProps) => {
  const consents = useView<ConsentView[]>(`/view/phones/${phone}/consents`, version);
  /** The last withdrawal, for screen readers. */
  const [news, setNews] = useState('');
  const requests = view.timeline.filter((item) => item.kind === 'request');
  return (
    <section class="consents" aria-label="Consents">
      <p class="unseen" role="status">
        {news}
      </p>
      {requests.map((request) => (
        <Open key={request.id} request={request} onAnswer={() => onAnswer(request.from ?? '')} />
      ))}
      {consents === undefined && <Skeleton rows={3} />}
      {consents?.map((consent) => (
        <Card key={consent.business.id} phone={phone} consent={consent} online={online} onNews={setNews} />
      ))}
      <p>
        <ExportReceipts phone={phone} />
      </p>
    </section>
  );
};

/** A request that the user has not answered completely. */
const Open = ({ request, onAnswer }: { request: RequestItem; onAnswer: () => void }) => {
  const open = request.properties.filter(({ property }) => request.answers[property] === undefined);
  if (open.length === 0) return null;
  return (
    <p class="consent-open">
      <Icon name="shield" />
      <span>
        <strong>{request.business}</strong> asks for your{' '}
        {open.map(({ property }) => plain(property).toLowerCase()).join(', ')}
      </span>
      <button type="button" class="text-button" onClick={onAnswer}>
        Answer
      </button>
    </p>
  );
};

interface CardProps {
  phone: string;
  consent: ConsentView;
  online: boolean;
  onNews: (news: string) => void;
}

const Card = ({ phone, consent, online, onNews }: CardProps) => {
  const { business, known, stopped } = consent;
  const [problem, setProblem] = useState('');
  return (
    <article class="consent" aria-label={business.name}>
      <header>
        <BusinessAvatar id={business.number} name={business.name} />
        <div>
          <h3>{business.name}</h3>
          <p class="quiet">{stopped ? 'You stopped this business' : summaryOf(known)}</p>
        </div>
      </header>
      <ul>
        {known.map((one) => (
          <Known
            key={one.property}
            known={one}
            online={online}
            onProblem={setProblem}
            onWithdrawn={() => onNews(`${plain(one.property)} withdrawn. ${business.name} must delete its copy.`)}
          />
        ))}
      </ul>
      <p class="problem" role="alert">
        {problem}
      </p>
      <Receive phone={phone} bot={business.number} name={business.name} on={!stopped} online={online} />
    </article>
  );
};

/** `Knows 2 things, until 22 Dec 2026`: the end is that of the last consent. */
const summaryOf = (known: KnownProperty[]): string => {
  const things = known.filter(({ state }) => state === 'approved');
  if (things.length === 0) return 'Knows nothing but your number';
  const knows = things.length === 1 ? 'Knows 1 thing' : `Knows ${things.length} things`;
  const endless = things.filter(({ until }) => until === null);
  if (endless.some(({ requests }) => requests.length > 0)) {
    return `${knows}, until you withdraw ${things.length === 1 ? 'it' : 'them'}`;
  }
  const last = things
    .flatMap(({ until }) => until ?? [])
    .sort()
    .at(-1);
  return endless.length === 0 && last ? `${knows}, until ${dateOf(last)}` : knows;
};

interface ReceiveProps {
  phone: string;
  bot: string;
  name: string;
  on: boolean;
  online: boolean;
}

/** The switch with which a user stops a business, and starts it again. */
const Receive = ({ phone, bot, name, on, online }: ReceiveProps) => {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState('');
  const change = async () => {
    setBusy(true);
    setProblem('');
    try {
      await submit(on ? 'PUT' : 'DELETE', `/phones/${phone}/stops/${bot}`);
    } catch (error) {
      setProblem(describeError(error));
    }
    setBusy(false);
  };
  return (
    <>
      <label class="receive">
        <span>
          Receive messages<span class="unseen"> of {name}</span>
        </span>
        <input
          type="checkbox"
          role="switch"
          aria-checked={on}
          checked={on}
          disabled={busy || !online}
          onChange={() => void change()}
        />
      </label>
      <p class="problem" role="alert">
        {problem}
      </p>
    </>
  );
};

/** The link to a user's consent receipts, as a file. */
export const ExportReceipts = ({ phone }: { phone: string }) => (
  <a class="button with-icon" href={`/view/phones/${phone}/consent-record`} download>
    <Icon name="file" />
    <span class="action-label">Export receipts</span>
  </a>
);
