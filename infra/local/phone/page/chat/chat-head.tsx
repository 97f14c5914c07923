/** The head of a chat: the business, and what the user can do about it. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Icon } from '../../../../web/icons.tsx';
import { spacedNumber } from '../../../../web/text.tsx';
import type { ConsentView } from '../../views.ts';
import { BusinessAvatar } from '../avatars.tsx';
import type { Go } from '../data/address.ts';
import { describeError, submit } from '../data/api.ts';
import { useView } from '../data/live.ts';
import { IconFace, Menu } from '../shell/menu.tsx';

interface ChatHeadProps {
  phone: string;
  business: { number: string; name: string };
  /** How often stops may have changed. */
  version: number;
  go: Go;
  switcher: ComponentChildren;
}

export const ChatHead = ({ phone, business: { number, name }, version, go, switcher }: ChatHeadProps) => {
  const consents = useView<ConsentView[]>(`/view/phones/${phone}/consents`, version);
  const stopped = consents?.find(({ business }) => business.number === number)?.stopped;
  const [problem, setProblem] = useState('');
  const change = () =>
    submit(stopped ? 'DELETE' : 'PUT', `/phones/${phone}/stops/${number}`).then(
      () => setProblem(''),
      (error) => setProblem(describeError(error)),
    );
  return (
    <header class="chat-head">
      <button type="button" class="icon-button" title="Chats" onClick={() => go({ screen: 'chats' })}>
        <Icon name="back" />
        <span class="unseen">Chats</span>
      </button>
      <BusinessAvatar id={number} name={name} />
      <div class="chat-title">
        <h2 class="one-line">{name}</h2>
        <p class="quiet one-line">
          {stopped ? 'You stopped this business' : 'Business'} · {spacedNumber(number)}
        </p>
        {problem && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
      </div>
      <Menu
        label={`More about ${name}`}
        look="icon-button"
        face={<IconFace icon="more" label={`More about ${name}`} />}
      >
        {(close) => (
          <>
            <button type="button" onClick={() => go({ screen: 'consents' })}>
              <Icon name="shield" />
              Consents
            </button>
            <button type="button" onClick={() => go({ screen: 'profile' })}>
              <Icon name="person" />
              Profile
            </button>
            {stopped !== undefined && (
              <button
                type="button"
                onClick={() => {
                  close();
                  void change();
                }}
              >
                <Icon name={stopped ? 'check' : 'block'} />
                {stopped ? 'Receive messages again' : 'Stop this business'}
              </button>
            )}
          </>
        )}
      </Menu>
      {switcher}
    </header>
  );
};
