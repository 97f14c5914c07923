/** The parts of a small page, which shows one of them. */

import { Icon, type IconName } from '../../../../web/icons.tsx';
import type { Address, Go } from '../data/address.ts';

type Part = 'phone' | 'activity' | 'stack';

const parts: { name: Part; label: string; icon: IconName }[] = [
  { name: 'phone', label: 'Phone', icon: 'phone' },
  { name: 'activity', label: 'Activity', icon: 'activity' },
  { name: 'stack', label: 'Stack', icon: 'server' },
];

/** The part of a small page that shows a tab. */
export const partOf = (tab: Address['tab']): Part => parts.find(({ name }) => name === tab)?.name ?? 'phone';

interface BottomTabsProps {
  address: Address;
  go: Go;
  /** Signs beside the labels, by part: numbers, or a dot. */
  signs?: Partial<Record<Part, number | 'dot'>>;
}

export const BottomTabs = ({ address, go, signs = {} }: BottomTabsProps) => (
  <nav class="panes" aria-label="Parts of the page">
    {parts.map(({ name, label, icon }) => (
      <button
        type="button"
        key={name}
        aria-current={name === partOf(address.tab) ? 'page' : undefined}
        onClick={() => go({ tab: name })}
      >
        <span class="pane-icon">
          <Icon name={icon} />
          <Sign sign={signs[name]} />
        </span>
        {label}
      </button>
    ))}
  </nav>
);

const Sign = ({ sign }: { sign: number | 'dot' | undefined }) => {
  if (sign === undefined || sign === 0) return null;
  if (sign === 'dot') return <span class="pane-dot" aria-hidden="true" />;
  return (
    <span class="pane-sign">
      {sign}
      <span class="unseen"> new</span>
    </span>
  );
};
