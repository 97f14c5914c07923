/** The chat of a user with a business. */
import { Fragment } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { dayOf, spacedNumber } from '../../../../web/text.tsx';
import type { PhoneView, Setup, TimelineItem } from '../../views.ts';
import { Announced } from '../announced.tsx';
import { type DraftContent, newDraft, type useOutbox } from '../data/outbox.ts';
import { Received, Written } from './bubbles.tsx';
import { Composer } from './composer.tsx';
import { ConsentCard } from './consent-card.tsx';
import { gistOf } from './conversations.ts';

interface ChatProps {
  phone: string;
  /** The number of the business. */
  business: string;
  items: TimelineItem[];
  user: PhoneView['user'];
  setup: Setup;
  send: ReturnType<typeof useOutbox>['send'];
  /** Whether the page reports states automatically. */
  reporting: boolean;
  online: boolean;
  /** The id of the message or request that the inspector shows. */
  inspected: string;
  onInspect: (id: string) => void;
}

export const Chat = (props: ChatProps) => {
  const { phone, business, items, user, setup, send, reporting, online, inspected, onInspect } = props;
  const log = useRef<HTMLElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const bot = setup.bots.find(({ number }) => number === business);
  const name = bot?.name ?? spacedNumber(business);
  const lastId = items.at(-1)?.id;

  const showLast = () => log.current?.scrollTo(0, log.current.scrollHeight);
  useEffect(showLast, [lastId]);

  const write = (text: string, content?: DraftContent) => {
    void send(newDraft(phone, business, text, content));
    field.current?.focus();
  };

  const shown = (item: TimelineItem) => {
    const inspection = { isInspected: item.id === inspected, onInspect: () => onInspect(item.id) };
    switch (item.kind) {
      case 'received':
        return (
          <Received
            {...inspection}
            item={item}
            name={name}
            offersReplies={item.id === lastId}
            reporting={reporting}
            online={online}
            onReply={(text) => write(text)}
          />
        );
      case 'written':
        return <Written {...inspection} item={item} onAgain={() => void send({ ...item, phone })} />;
      case 'request':
        return <ConsentCard {...inspection} item={item} user={user} setup={setup} online={online} />;
    }
  };

  return (
    <>
      <section
        class="log"
        role="log"
        aria-label="Conversation"
        // The region below announces what comes, at the pace of the page.
        aria-live="off"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: who uses the keyboard has to reach it to scroll
        tabIndex={0}
        ref={log}
        onLoadCapture={showLast}
      >
        {items.length === 0 && (
          <div class="welcome">
            <h3>Say hello</h3>
            <p>
              You are a user of the app. Write to {name} below: the service passes your message to{' '}
              {bot?.platform ?? 'its platform'}, where a bot replies.
            </p>
            <div class="replies">
              {['Hi', 'How are you?'].map((text) => (
                <button type="button" key={text} disabled={!online} onClick={() => write(text)}>
                  {text}
                </button>
              ))}
            </div>
          </div>
        )}
        {items.map((item, index) => (
          <Fragment key={item.id}>
            {dayOf(item.time) !== dayOf(items[index - 1]?.time ?? '1970-01-01') && (
              <p class="day">{dayOf(item.time)}</p>
            )}
            {shown(item)}
          </Fragment>
        ))}
      </section>
      <Announced news={newsOf(items, name)} />
      <Composer key={phone + business} name={name} online={online} onWrite={write} field={field} />
    </>
  );
};

/** The last message or request of the business; empty if the user wrote after it. */
const newsOf = (items: TimelineItem[], name: string): string => {
  const last = items.at(-1);
  return last === undefined || last.kind === 'written' ? '' : `${name}: ${gistOf(last)}`;
};
