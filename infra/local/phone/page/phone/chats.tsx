/** The chats of a user: one for each business. */
import { useState } from 'preact/hooks';
import { Icon } from '../../../../web/icons.tsx';
import { spacedNumber, Time } from '../../../../web/text.tsx';
import type { ConsentView, PhoneView, Setup } from '../../views.ts';
import { BusinessAvatar } from '../avatars.tsx';
import { type ChatSummary, chatsOf, gistOf } from '../chat/conversations.ts';
import { useView } from '../data/live.ts';

interface ChatsProps {
  phone: string;
  /** How often stops may have changed. */
  version: number;
  view: PhoneView;
  setup: Setup;
  onOpen: (number: string) => void;
}

export const Chats = ({ phone, version, view, setup, onOpen }: ChatsProps) => {
  const [searched, setSearched] = useState('');
  const consents = useView<ConsentView[]>(`/view/phones/${phone}/consents`, version);
  const nameOf = (number: string) => setup.bots.find((bot) => bot.number === number)?.name ?? spacedNumber(number);
  const chats = chatsOf(view, setup.bots).filter(({ number }) =>
    nameOf(number).toLowerCase().includes(searched.trim().toLowerCase()),
  );
  const stopped = new Set(consents?.flatMap(({ business, stopped }) => (stopped ? business.number : [])));
  const name = view.user?.properties.first_name?.value ?? 'this user';
  return (
    <div class="chats">
      <label class="chat-search">
        <Icon name="search" />
        <span class="unseen">Search businesses</span>
        <input
          type="search"
          placeholder="Search businesses"
          value={searched}
          onInput={({ currentTarget }) => setSearched(currentTarget.value)}
        />
      </label>
      <ul>
        {chats.map((chat) => (
          <li key={chat.number}>
            <Entry
              chat={chat}
              name={nameOf(chat.number)}
              stopped={stopped.has(chat.number)}
              onOpen={() => onOpen(chat.number)}
            />
          </li>
        ))}
      </ul>
      <p class="chats-hint">
        {chats.length === 0 ? (
          'No business has this name.'
        ) : (
          <>
            Any business of the local stack can write to {name}.
            <br />
            New chats appear here.
          </>
        )}
      </p>
    </div>
  );
};

interface EntryProps {
  chat: ChatSummary;
  name: string;
  stopped: boolean;
  onOpen: () => void;
}

const Entry = ({ chat: { number, last, unread, asks }, name, stopped, onOpen }: EntryProps) => {
  const news = unread.length + asks;
  return (
    <button type="button" class="chat-entry" onClick={onOpen}>
      <BusinessAvatar id={number} name={name} />
      <span class="chat-about">
        <span class="line">
          <strong>{name}</strong>
          {last && (
            <span class={news > 0 ? 'chat-new' : 'quiet'}>
              <Time at={last.time} />
            </span>
          )}
        </span>
        <span class="line">
          <span class="chat-last one-line" dir="auto">
            {stopped ? 'You stopped this business' : last ? gistOf(last) : 'Nothing yet'}
          </span>
          {stopped && <span class="chip warn">Stopped</span>}
          {!stopped && news > 0 && (
            <span class="badge">
              {news}
              <span class="unseen"> new</span>
            </span>
          )}
        </span>
      </span>
    </button>
  );
};
