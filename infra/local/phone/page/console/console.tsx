/** The console of the service: its activity, and the stack. */
import { useState } from 'preact/hooks';
import { Icon } from '../../../../web/icons.tsx';
import { useToast } from '../../../../web/toast.tsx';
import type { PhoneSummary, Setup } from '../../views.ts';
import { Activity } from '../activity/activity.tsx';
import type { StackClock } from '../clock/use-clock.ts';
import type { Address, Go } from '../data/address.ts';
import { describeError, submit } from '../data/api.ts';
import type { Versions } from '../data/live.ts';
import { Banners } from '../destinations/banner.tsx';
import type { Switches } from '../destinations/use-switches.ts';
import { useKeys } from '../keys.tsx';
import { partOf } from '../shell/bottom-tabs.tsx';
import { Search } from '../shell/search.tsx';
import { Dock } from '../write/dock.tsx';
import { WriteEditor } from '../write/editor.tsx';
import { Stack } from './stack.tsx';

interface ConsoleProps {
  versions: Versions;
  address: Address;
  go: Go;
  setup: Setup | undefined;
  phone: string;
  users: PhoneSummary[];
  onUser: (phone: string) => void;
  /** Whether the server can be reached. */
  online: boolean;
  wide: boolean;
  switches: Switches;
  clock: StackClock;
}

export const Console = ({
  versions,
  address,
  go,
  setup,
  phone,
  users,
  onUser,
  online,
  wide,
  switches,
  clock,
}: ConsoleProps) => {
  const [chosen, setBusiness] = useState('');
  const bots = setup?.bots.filter(({ sends }) => sends) ?? [];
  const business = chosen || (bots.find(({ number }) => number === address.chat)?.id ?? bots[0]?.id ?? '');
  const write = () => go({ tab: 'activity', write: true, trace: '' });
  useKeys({
    b: write,
    m: () => {
      if (!wide) go({ tab: 'phone', screen: 'chat' });
      else if (address.screen !== 'chat') go({ screen: 'chat' });
      requestAnimationFrame(() => document.getElementById('message')?.focus());
    },
  });
  if (!wide && partOf(address.tab) === 'stack') {
    return (
      <section class="console" id="console" aria-label="Console" tabIndex={-1}>
        <Stack {...{ setup, switches, clock, online, users }} />
      </section>
    );
  }
  const editor =
    address.write && setup ? (
      <WriteEditor
        {...{ bots, business, online }}
        onBusiness={setBusiness}
        user={users.find((user) => user.phone === phone)}
        apiUrl={setup.api_url}
        onClose={() => go({ write: false })}
        onSent={(message) => go({ write: false, view: 'traces', trace: message })}
      />
    ) : null;
  return (
    <section class="console" id="console" aria-label="Console" tabIndex={-1}>
      <header class="console-head">
        <h2>
          <Icon name="activity" />
          Activity
        </h2>
        <ClearButton onClear={() => go({ trace: '' })} online={online} />
      </header>
      <div class="console-body">
        <Banners switches={switches} online={online} />
        {!wide && address.trace === '' && <Search address={address} go={go} />}
        <Activity {...{ versions, address, go, setup, users, online, editor, switches, clock }} />
      </div>
      <Dock {...{ bots, business, phone, users, onUser, online }} onBusiness={setBusiness} onWrite={write} />
    </section>
  );
};

/** Removes the traces that the stack keeps. Messages, and what the service stores, stay. */
const ClearButton = ({ onClear, online }: { onClear: () => void; online: boolean }) => {
  const toast = useToast();
  const clear = () =>
    submit('DELETE', '/traces').then(onClear, (error) => {
      toast(describeError(error), 'bad');
    });
  return (
    <button type="button" class="quiet-button" disabled={!online} onClick={() => void clear()}>
      <Icon name="trash" />
      Clear
    </button>
  );
};
