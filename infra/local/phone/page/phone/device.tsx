/** The phone: its status bar, one screen, and the navigation between screens. */
import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from '../../../../web/icons.tsx';
import { Time } from '../../../../web/text.tsx';
import type { Address, Go } from '../data/address.ts';
import { usePresent } from '../data/use-present.ts';

const screens: { name: Address['screen']; label: string; icon: IconName }[] = [
  { name: 'chats', label: 'Chats', icon: 'chat' },
  { name: 'consents', label: 'Consents', icon: 'shield' },
  { name: 'profile', label: 'Profile', icon: 'person' },
];

interface DeviceProps {
  screen: Address['screen'];
  go: Go;
  /** Chooses another user, on a small page. */
  switcher: ComponentChildren;
  children: ComponentChildren;
}

export const Device = ({ screen, go, switcher, children }: DeviceProps) => {
  const title = screens.find(({ name }) => name === screen)?.label;
  return (
    <div class="device">
      <StatusBar />
      {title !== undefined && (
        <header class="screen-head">
          <h2>{title}</h2>
          {switcher}
        </header>
      )}
      {children}
      {title !== undefined && (
        <nav class="screens" aria-label="Screens of the phone">
          {screens.map(({ name, label, icon }) => (
            <button
              type="button"
              key={name}
              aria-current={name === screen ? 'page' : undefined}
              onClick={() => go({ screen: name })}
            >
              <Icon name={icon} />
              {label}
            </button>
          ))}
        </nav>
      )}
      <span class="home-bar" aria-hidden="true" />
    </div>
  );
};

const StatusBar = () => {
  const time = usePresent();
  return (
    <div class="status-bar" aria-hidden="true">
      <Time at={new Date(time).toISOString()} />
      <svg viewBox="0 0 52 12" aria-hidden="true">
        <path d="M1 8v3M5 6v5M9 4v7M13 2v9M20 5c4-4 8-4 12 0M22.500 7.500c2.500-2.500 4.500-2.500 7 0M26 10v.1M37 2h11v8H37zM50 5v2M40 4.500v3M42.500 4.500v3M45 4.500v3" />
      </svg>
    </div>
  );
};
