/** The console of the service: its activity, the jobs, and the stack. */
import { useState } from 'preact/hooks';
import type { JobListView } from '../../jobs/views.ts';
import type { PhoneSummary, Setup } from '../../views.ts';
import { Activity } from '../activity/activity.tsx';
import type { StackClock } from '../clock/use-clock.ts';
import type { Address, Go } from '../data/address.ts';
import { describeError, submit } from '../data/api.ts';
import { useView, type Versions } from '../data/live.ts';
import { Banners } from '../destinations/banner.tsx';
import type { Switches } from '../destinations/use-switches.ts';
import { Icon } from '../icons.tsx';
import { Jobs } from '../jobs/jobs.tsx';
import { useKeys } from '../keys.tsx';
import { partOf } from '../shell/bottom-tabs.tsx';
import { Search } from '../shell/search.tsx';
import { useToast } from '../shell/toast.tsx';
import { Tabs } from '../tabs.tsx';
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
  const jobs = useView<JobListView>('/view/jobs', versions.jobs);
  const [chosen, setBusiness] = useState('');
  const running = jobs?.jobs.filter(({ status }) => status === 'running').length ?? 0;
  const tab = address.tab === 'jobs' ? 'jobs' : 'activity';
  const bots = setup?.bots.filter(({ sends }) => sends) ?? [];
  const business = chosen || (bots.find(({ number }) => number === address.chat)?.id ?? bots[0]?.id ?? '');
  const write = () => go({ tab: 'activity', write: true, trace: '' });
  useKeys({
    1: () => go({ tab: 'activity' }),
    2: () => go({ tab: 'jobs' }),
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
    <section class="console" id="console" aria-label="Console" tabIndex={-1} data-tab={tab}>
      <Tabs
        id="console"
        label="Console"
        tabs={[
          { name: 'activity', label: 'Activity', icon: 'activity' },
          { name: 'jobs', label: 'Jobs', icon: 'layers', count: { number: running, of: 'running' } },
        ]}
        selected={tab}
        onSelect={(name) => go({ tab: name })}
        after={tab === 'activity' && <ClearButton onClear={() => go({ trace: '' })} online={online} />}
      >
        <Banners switches={switches} online={online} />
        {!wide && tab === 'activity' && address.trace === '' && <Search address={address} go={go} />}
        {tab === 'activity' ? (
          <Activity {...{ versions, address, go, setup, users, online, editor, switches, clock }} />
        ) : (
          <Jobs list={jobs} versions={versions} address={address} go={go} setup={setup} online={online} />
        )}
      </Tabs>
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
