/** Messages from a business and from the user, with their states. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Icon, type IconName } from '../../../../web/icons.tsx';
import { Link, linked, Time } from '../../../../web/text.tsx';
import type { ReceivedItem, WrittenItem } from '../../views.ts';
import { describeError } from '../data/api.ts';
import { report } from '../data/reports.ts';

interface Inspection {
  isInspected: boolean;
  onInspect: () => void;
}

interface ReceivedProps extends Inspection {
  item: ReceivedItem;
  name: string;
  offersReplies: boolean;
  reporting: boolean;
  online: boolean;
  onReply: (text: string) => void;
}

export const Received = ({ item, name, offersReplies, reporting, online, onReply, ...inspection }: ReceivedProps) => {
  /** Whether a reply was clicked: the replies are gone with the next message. */
  const [replied, setReplied] = useState(false);
  return (
    <article class="message" aria-label={`${name} wrote`}>
      <Inspectable {...inspection}>
        <div class={`bubble ${item.content.type}`} dir="auto">
          <Content {...item.content} />
          <Foot time={item.time} />
        </div>
      </Inspectable>
      {offersReplies && !replied && item.quick_replies.length > 0 && (
        <fieldset class="replies" dir="auto">
          <legend class="unseen">Quick replies</legend>
          {item.quick_replies.map((text) => (
            <button
              type="button"
              key={text}
              disabled={!online}
              onClick={() => {
                setReplied(true);
                onReply(text);
              }}
            >
              {text}
            </button>
          ))}
        </fieldset>
      )}
      {!reporting && <Reports item={item} online={online} />}
    </article>
  );
};

/** A bubble with the button that opens its trace. */
export const Inspectable = ({ isInspected, onInspect, children }: Inspection & { children: ComponentChildren }) => (
  <div class={`inspectable ${isInspected ? 'inspected' : ''}`}>
    {children}
    <button type="button" class="inspect" title="Inspect" aria-pressed={isInspected} onClick={onInspect}>
      <Icon name="activity" />
      <span class="unseen">Inspect</span>
    </button>
  </div>
);

const Foot = ({ time, children }: { time: string; children?: ComponentChildren }) => (
  <span class="foot" dir="ltr">
    <Time at={time} />
    {children}
  </span>
);

const Content = (content: ReceivedItem['content']) => {
  if (content.type === 'text') return <LongText text={content.body} />;
  return (
    <>
      <Media {...content} />
      {content.caption && <LongText text={content.caption} />}
    </>
  );
};

const WORDS = { image: 'picture', file: 'file', audio: 'sound', video: 'film' };

/** What is at a URL. The page cannot decrypt: of an encrypted file, it shows what it is. */
const Media = ({ type, url }: Exclude<ReceivedItem['content'], { type: 'text' }>) => {
  if (url.startsWith('aesgcm:')) return <Attachment icon="lock">An encrypted {WORDS[type]}</Attachment>;
  if (type === 'image')
    return (
      <Link to={url}>
        <img class="picture" src={url} alt="Sent by the business; opens in a new tab" />
      </Link>
    );
  // biome-ignore-start lint/a11y/useMediaCaption: businesses send none
  if (type === 'audio') return <audio class="picture" controls src={url} aria-label="Sound" />;
  if (type === 'video') return <video class="picture" controls src={url} aria-label="Film" />;
  // biome-ignore-end lint/a11y/useMediaCaption: businesses send none
  return (
    <Link to={url}>
      <Attachment icon="file">Open the file</Attachment>
    </Link>
  );
};

const Attachment = ({ icon, children }: { icon: IconName; children: ComponentChildren }) => (
  <span class="attachment">
    <span class="attachment-icon">
      <Icon name={icon} />
    </span>
    {children}
  </span>
);

/** Lines of a text before it is cut, and the letters that count as so many lines. */
const LINES = 12;
const LETTERS = 500;

const LongText = ({ text }: { text: string }) => {
  const [open, setOpen] = useState(false);
  const isLong = text.length > LETTERS || text.split('\n').length > LINES;
  return (
    <>
      <span class={`text ${isLong && !open ? 'cut' : ''}`}>{linked(text)}</span>
      {isLong && (
        <button type="button" class="text-button more" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? 'Read less' : 'Read more'}
        </button>
      )}
    </>
  );
};

/** A sign with its meaning as a tooltip, and as a label for screen readers. */
const Tick = ({ kind, icon, label }: { kind: string; icon: IconName; label: string }) => (
  <span class={`tick ${kind}`} role="img" aria-label={label} title={label}>
    <Icon name={icon} />
  </span>
);

const reportable = { delivered_to_user: 'delivered', read: 'read', delivery_failed: 'failed' } as const;

/** What was reported about a message, and buttons that report more, while the page does not report automatically. */
const Reports = ({ item, online }: { item: ReceivedItem; online: boolean }) => {
  const [problem, setProblem] = useState('');
  const [busy, setBusy] = useState(false);
  const states = Object.keys(reportable) as (keyof typeof reportable)[];
  const open = states.filter((state) => !item.states.includes(state));
  const done = states.filter((state) => item.states.includes(state)).map((state) => reportable[state]);
  const send = async (state: keyof typeof reportable) => {
    setBusy(true);
    setProblem('');
    await report(item.id, state).catch((error) => setProblem(describeError(error)));
    setBusy(false);
  };
  return (
    <fieldset class="reports">
      <legend>{done.length > 0 ? `Reported as ${done.join(', ')}` : 'Nothing reported yet'}</legend>
      {open.map((state) => (
        <button type="button" key={state} disabled={busy || !online} onClick={() => void send(state)}>
          Report {reportable[state]}
        </button>
      ))}
      {problem && <span class="problem">{problem}</span>}
    </fieldset>
  );
};

export const Written = ({ item, onAgain, ...inspection }: Inspection & { item: WrittenItem; onAgain: () => void }) => {
  const failed = item.outcome === 'refused' || item.outcome === 'unanswered';
  return (
    <article class="message ours" aria-label="You wrote">
      <Inspectable {...inspection}>
        <div class="bubble text" dir="auto">
          {item.picture !== null && <img class="picture" src={item.picture} alt="Sent by you" />}
          {item.text !== '' && <LongText text={item.text} />}
          <Foot time={item.time}>
            {item.outcome === 'sending' && <Tick kind="sending" icon="clock" label="being sent" />}
            {item.outcome === 'taken' && !item.delivered && (
              <Tick kind="taken" icon="check" label="accepted by the service" />
            )}
            {item.outcome === 'taken' && item.delivered && <Tick kind="read" icon="checks" label="on the platform" />}
            {failed && <Tick kind="failed" icon="alert" label="not sent" />}
          </Foot>
        </div>
      </Inspectable>
      {failed && (
        <p class="problem">
          <strong>{item.outcome === 'refused' ? 'Rejected' : 'Not sent'}.</strong> {item.detail}{' '}
          <button type="button" class="text-button" onClick={onAgain}>
            Retry
          </button>
        </p>
      )}
    </article>
  );
};
