/** A phone's conversations with the bots, as one chat. */
import { Fragment } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { PhoneView, Setup, TimelineItem } from '../../views.ts';
import { asWritten, newDraft, type useOutbox } from '../data/outbox.ts';
import { dayOf } from '../text.tsx';
import { Received, Written } from './bubbles.tsx';
import { Composer } from './composer.tsx';
import { ConsentCard } from './consent-card.tsx';
import { TryIt } from './try-it.tsx';

interface ChatProps {
  phone: string;
  view: PhoneView;
  setup: Setup;
  outbox: ReturnType<typeof useOutbox>;
  /** Whether the page reports states automatically. */
  reporting: boolean;
}

export const Chat = ({ phone, view, setup, outbox, reporting }: ChatProps) => {
  const { drafts, send, settle } = outbox;
  const [chosen, setBot] = useState<string>();
  const log = useRef<HTMLElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);

  const known = new Set(view.timeline.map(({ id }) => id));
  const pending = drafts.filter((draft) => draft.phone === phone && !known.has(draft.id)).map(asWritten);
  const items: TimelineItem[] = [...view.timeline, ...pending];
  const lastWritten = items.findLastIndex(({ kind }) => kind === 'written');
  const bot = chosen ?? lastBotIn(items) ?? setup.bots[0]?.number ?? '';

  useEffect(() => settle(known), [view]);
  const showLast = () => log.current?.scrollTo(0, log.current.scrollHeight);
  useEffect(showLast, [items.length]);

  const write = (to: string, text: string) => {
    setBot(to);
    void send(newDraft(phone, to, text));
    field.current?.focus();
  };

  const shown = (item: TimelineItem, place: number) => {
    switch (item.kind) {
      case 'received':
        return (
          <Received
            item={item}
            bot={setup.bots.find(({ number }) => number === item.from)}
            offersReplies={place > lastWritten}
            reporting={reporting}
            onReply={(text) => write(item.from ?? bot, text)}
          />
        );
      case 'written':
        return <Written item={item} onAgain={() => void send({ ...item, phone })} />;
      case 'request':
        return <ConsentCard item={item} user={view.user} setup={setup} />;
    }
  };

  return (
    <>
      <section
        class="log"
        role="log"
        aria-label="Conversation"
        aria-live="polite"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: who uses the keyboard has to reach it to scroll
        tabIndex={0}
        ref={log}
        onLoadCapture={showLast}
      >
        {items.length === 0 && (
          <div class="welcome">
            <h3>Say hello</h3>
            <p>
              You are a user of the app. Write to a bot below: the service passes your message to{' '}
              {setup.bots.map(({ platform }) => platform).join(' or ')}, where the bot replies.
            </p>
            <div class="replies">
              <button type="button" onClick={() => write(bot, 'Hi')}>
                Hi
              </button>
              <button type="button" onClick={() => write(bot, 'How are you?')}>
                How are you?
              </button>
            </div>
          </div>
        )}
        {items.map((item, place) => (
          <Fragment key={item.id}>
            {dayOf(item.time) !== dayOf(items[place - 1]?.time ?? '1970-01-01') && (
              <p class="day">{dayOf(item.time)}</p>
            )}
            {shown(item, place)}
          </Fragment>
        ))}
      </section>
      <TryIt phone={phone} />
      <Composer bots={setup.bots} bot={bot} onBot={setBot} onWrite={(text) => write(bot, text)} field={field} />
    </>
  );
};

/** The bot of the last message. */
const lastBotIn = (items: TimelineItem[]): string | undefined =>
  items
    .flatMap((item) => (item.kind === 'written' ? [item.to] : item.kind === 'received' && item.from ? [item.from] : []))
    .at(-1);
