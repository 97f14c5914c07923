/** The page: the users, the phone of one of them, and the console of the service. */
import { useCallback, useState } from 'preact/hooks';
import { Icon } from '../../../web/icons.tsx';
import { spacedNumber } from '../../../web/text.tsx';
import { Toasts } from '../../../web/toast.tsx';
import type { PhoneSummary, PhoneView, Setup } from '../views.ts';
import { itemsOf } from './chat/conversations.ts';
import { ClockChip, ClockNews } from './clock/clock.tsx';
import { isMoved, useClock } from './clock/use-clock.ts';
import { Console } from './console/console.tsx';
import { useAddress } from './data/address.ts';
import { useLive, useView } from './data/live.ts';
import { useOutbox } from './data/outbox.ts';
import { useReports } from './data/reports.ts';
import { useUnseenTraces } from './data/traces.ts';
import { DestinationChips } from './destinations/chips.tsx';
import { useSwitches } from './destinations/use-switches.ts';
import { KeyMap } from './keys.tsx';
import { openBusiness, Phone } from './phone/phone.tsx';
import { BottomTabs, partOf } from './shell/bottom-tabs.tsx';
import { useVisible, useWide } from './shell/screen-size.ts';
import { Search } from './shell/search.tsx';
import { TopBar } from './shell/top-bar.tsx';
import { Users } from './shell/users.tsx';

export const App = () => (
  <Toasts>
    <Page />
  </Toasts>
);

const Page = () => {
  const { connection, versions } = useLive();
  const clock = useClock(versions.clock);
  const setup = useView<Setup>('/view/setup', versions.phones);
  const phones = useView<PhoneSummary[]>('/view/phones', versions.phones);
  const [address, go] = useAddress();
  const [reporting, setReporting] = useState(true);
  const outbox = useOutbox();
  const switches = useSwitches(versions.destinations);
  const wide = useWide();
  const visible = useVisible();

  const online = connection.state === 'live';
  const isSwitched = switches.destinations?.some(({ mode }) => mode !== 'normal') ?? false;
  const moved = clock.view !== undefined && isMoved(clock.view);
  const part = partOf(address.tab);
  const unseen = useUnseenTraces(versions.traces, wide || part === 'activity');
  const phone = address.user || setup?.demo_phone || '';
  const view = useView<PhoneView>(`/view/phones/${phone}`, phone ? versions.phones + versions.traces : 0);
  const chatSeen = visible && address.screen === 'chat' && (wide || part === 'phone');
  const seen = chatSeen && setup && view ? itemsOf(view.timeline, openBusiness(address, view, setup)) : [];
  const users = listedUsers([...(phones ?? []), ...(view ? [view.summary] : [])], [setup?.demo_phone, phone]);
  useReports({ phones: users, seen: new Set(seen.map(({ id }) => id)), on: reporting && online });

  const user = users.find((one) => one.phone === phone);
  const openUser = useCallback((number: string) => go({ user: number, chat: '', screen: 'chat' }), [go]);

  return (
    <div class="page" data-part={part} data-connection={connection.state} data-moved={moved}>
      <nav class="skips" aria-label="Shortcuts">
        {address.screen === 'chat' && (wide || part === 'phone') && (
          <a class="skip" href="#message">
            Skip to writing a message
          </a>
        )}
        {(wide || part !== 'phone') && (
          <a class="skip" href="#console">
            Skip to the console
          </a>
        )}
      </nav>
      <TopBar connection={connection} docs={setup?.docs_url}>
        {wide && <Search address={address} go={go} />}
        {wide && <DestinationChips {...{ switches, users, online }} />}
        {(wide || (moved && part !== 'stack')) && <ClockChip {...{ clock, online }} />}
      </TopBar>
      <Users users={users} open={phone} onOpen={openUser} />
      <main class="stage" aria-label="Phone">
        <p class="stage-head">
          <Icon name="phone" />
          Phone of{' '}
          <strong class="one-line">{[user?.name, user?.lastName].filter(Boolean).join(' ') || 'a user'}</strong>
          <span class="quiet">{phone && spacedNumber(phone)}</span>
        </p>
        <Phone
          {...{ phone, users, view, setup, outbox, reporting, online, wide, address, go }}
          onReporting={setReporting}
          version={versions.phones + versions.traces}
          onUser={openUser}
        />
      </main>
      <Console {...{ versions, address, go, setup, phone, users, online, wide, switches, clock }} onUser={openUser} />
      <ClockNews clock={clock} />
      <KeyMap />
      <BottomTabs address={address} go={go} signs={{ activity: unseen, ...(isSwitched && { stack: 'dot' }) }} />
    </div>
  );
};

/** The listed users by number, with those that must be in the list even before their first message. */
const listedUsers = (given: PhoneSummary[], needed: (string | undefined)[]): PhoneSummary[] => {
  // The open phone is also given alone: a campaign may have more receivers than the list.
  const phones = given.filter(({ phone }, place) => given.findIndex((one) => one.phone === phone) === place);
  const missing = [...new Set(needed)].filter((one) => one && !phones.some(({ phone }) => phone === one));
  const unknown = { name: null, lastName: null, unread: [], asks: 0 };
  const all = [...phones, ...missing.flatMap((phone) => (phone ? [{ phone, ...unknown }] : []))];
  // In an order that stays: a rail that moves while messages arrive cannot be used.
  return all.sort((a, b) => Number(a.name === null) - Number(b.name === null) || a.phone.localeCompare(b.phone));
};
