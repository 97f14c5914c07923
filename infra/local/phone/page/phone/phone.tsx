/** A user's phone: the open screen, with what the screens have in common. */
import { useEffect } from 'preact/hooks';
import { Skeleton } from '../../../../web/parts.tsx';
import { spacedNumber } from '../../../../web/text.tsx';
import type { PhoneSummary, PhoneView, Setup } from '../../views.ts';
import { Chat } from '../chat/chat.tsx';
import { ChatHead } from '../chat/chat-head.tsx';
import { itemsOf, lastBusiness } from '../chat/conversations.ts';
import type { Address, Go } from '../data/address.ts';
import type { useOutbox } from '../data/outbox.ts';
import { asWritten } from '../data/outbox.ts';
import { UserSwitcher } from '../shell/user-switcher.tsx';
import { Chats } from './chats.tsx';
import { Consents } from './consents.tsx';
import { Device } from './device.tsx';
import { Profile } from './profile.tsx';

interface PhoneProps {
  phone: string;
  users: PhoneSummary[];
  view: PhoneView | undefined;
  setup: Setup | undefined;
  outbox: ReturnType<typeof useOutbox>;
  reporting: boolean;
  onReporting: (on: boolean) => void;
  online: boolean;
  wide: boolean;
  address: Address;
  go: Go;
  /** How often consents may have changed. */
  version: number;
  onUser: (phone: string) => void;
}

/** The number of the business whose chat is open. */
export const openBusiness = ({ chat }: Address, view: PhoneView, setup: Setup): string =>
  chat || lastBusiness(view.timeline, setup.bots);

export const Phone = (props: PhoneProps) => {
  const { phone, users, view, setup, wide, address, go, onUser } = props;
  const switcher = wide ? null : <UserSwitcher users={users} open={phone} onOpen={onUser} />;
  return (
    <Device screen={address.screen} go={go} switcher={switcher}>
      {setup && view ? (
        <Screen {...props} view={view} setup={setup} switcher={switcher} />
      ) : (
        <div class="log">
          <Skeleton rows={3} />
        </div>
      )}
    </Device>
  );
};

interface ScreenProps extends PhoneProps {
  view: PhoneView;
  setup: Setup;
  switcher: preact.ComponentChildren;
}

const Screen = (props: ScreenProps) => {
  const { phone, view, setup, outbox, reporting, onReporting, online, wide, address, go, version, switcher } = props;
  const { drafts, send, settle } = outbox;
  const known = new Set(view.timeline.map(({ id }) => id));
  useEffect(() => settle(known), [view, drafts]);
  switch (address.screen) {
    case 'profile':
      return <Profile key={phone} {...{ phone, setup, reporting, onReporting, online }} user={view.user} />;
    case 'consents':
      return (
        <Consents key={phone} {...{ phone, version, view, online }} onAnswer={(chat) => go({ screen: 'chat', chat })} />
      );
    case 'chats':
      return <Chats key={phone} {...{ phone, version, view, setup }} onOpen={(chat) => go({ screen: 'chat', chat })} />;
  }
  const number = openBusiness(address, view, setup);
  const pending = drafts.filter((draft) => draft.phone === phone && draft.to === number && !known.has(draft.id));
  const name = setup.bots.find((bot) => bot.number === number)?.name ?? spacedNumber(number);
  return (
    <>
      <ChatHead key={phone + number} {...{ phone, version, go, switcher }} business={{ number, name }} />
      <Chat
        key={`${phone} ${number}`}
        {...{ phone, setup, send, reporting, online }}
        business={number}
        items={[...itemsOf(view.timeline, number), ...pending.map(asWritten)]}
        user={view.user}
        inspected={address.trace}
        onInspect={(trace) => go({ tab: 'activity', trace, write: false, ...(wide && { view: 'traces' }) })}
      />
    </>
  );
};
