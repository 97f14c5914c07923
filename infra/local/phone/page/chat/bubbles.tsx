/** Messages from a bot and from the user, with their states. */
import { useState } from 'preact/hooks';
import type { Bot, ReceivedItem, WrittenItem } from '../../views.ts';
import { describeError } from '../data/api.ts';
import { report } from '../data/reports.ts';
import { Link, linked, numberOf, Time } from '../text.tsx';

interface ReceivedProps {
  item: ReceivedItem;
  bot: Bot | undefined;
  offersReplies: boolean;
  reporting: boolean;
  onReply: (text: string) => void;
}

export const Received = ({ item, bot, offersReplies, reporting, onReply }: ReceivedProps) => (
  <article class="message theirs">
    <div class="bubble">
      <p class="sender">{bot?.name ?? (item.from ? numberOf(item.from) : 'A business')}</p>
      <Content {...item.content} />
      <p class="foot">
        <Time at={item.time} />
        <States states={item.states} />
      </p>
    </div>
    {offersReplies && item.quick_replies.length > 0 && (
      <fieldset class="replies">
        <legend class="unseen">Quick replies</legend>
        {item.quick_replies.map((text) => (
          <button type="button" key={text} onClick={() => onReply(text)}>
            {text}
          </button>
        ))}
      </fieldset>
    )}
    {!reporting && <Reports item={item} />}
  </article>
);

const Content = (content: ReceivedItem['content']) => {
  if (content.type === 'text') return <p class="text">{linked(content.body)}</p>;
  if (content.type === 'image')
    return (
      <Link to={content.url}>
        <img class="picture" src={content.url} alt="Sent by the business; opens in a new tab" />
      </Link>
    );
  return (
    <p class="text">
      <Link to={content.url}>📄 Open the file</Link>
    </p>
  );
};

const States = ({ states }: Pick<ReceivedItem, 'states'>) => {
  if (states.includes('delivery_failed')) return <Tick kind="failed" sign="✕" label="reported as failed" />;
  if (states.includes('read')) return <Tick kind="read" sign="✓✓" label="reported as read" />;
  if (states.includes('delivered_to_user')) return <Tick kind="delivered" sign="✓✓" label="reported as delivered" />;
  return <Tick kind="new" sign="✓" label="nothing reported yet" />;
};

/** A sign with its meaning as a tooltip, and as a label for screen readers. */
const Tick = ({ kind, sign, label }: { kind: string; sign: string; label: string }) => (
  <span class={`tick ${kind}`} role="img" aria-label={label} title={label}>
    {sign}
  </span>
);

const reportable = { delivered_to_user: 'delivered', read: 'read', delivery_failed: 'failed' } as const;

/** Buttons that report the states, while the page does not report them automatically. */
const Reports = ({ item }: { item: ReceivedItem }) => {
  const [problem, setProblem] = useState('');
  const open = (Object.keys(reportable) as (keyof typeof reportable)[]).filter((state) => !item.states.includes(state));
  if (open.length === 0) return null;
  return (
    <fieldset class="reports">
      <legend>Report as</legend>
      {open.map((state) => (
        <button
          type="button"
          key={state}
          onClick={() => report(item.id, state).catch((error) => setProblem(describeError(error)))}
        >
          {reportable[state]}
        </button>
      ))}
      {problem && <span class="problem">{problem}</span>}
    </fieldset>
  );
};

export const Written = ({ item, onAgain }: { item: WrittenItem; onAgain: () => void }) => {
  const failed = item.outcome === 'refused' || item.outcome === 'unanswered';
  return (
    <article class="message ours">
      <div class="bubble">
        <p class="text">{linked(item.text)}</p>
        <p class="foot">
          <Time at={item.time} />
          {item.outcome === 'taken' && <Tick kind="taken" sign="✓" label="accepted by the service" />}
          {item.outcome === 'sending' && <Tick kind="sending" sign="◷" label="being sent" />}
          {failed && <Tick kind="failed" sign="!" label="not sent" />}
        </p>
      </div>
      {failed && (
        <p class="problem">
          <strong>{item.outcome === 'refused' ? 'Rejected' : 'Not sent'}.</strong> {item.detail}{' '}
          <button type="button" class="plain" onClick={onAgain}>
            Send again
          </button>
        </p>
      )}
    </article>
  );
};
