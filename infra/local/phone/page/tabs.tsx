/** Tabs by the ARIA pattern: the arrow keys, Home and End select a tab. */
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { Icon, type IconName } from './icons.tsx';

interface Tab<Name extends string> {
  name: Name;
  label: string;
  icon?: IconName;
  /** A number beside the label, and what it counts. */
  count?: { number: number; of: string };
}

interface TabsProps<Name extends string> {
  /** Unique on the page. */
  id: string;
  label: string;
  tabs: Tab<Name>[];
  selected: Name;
  onSelect: (name: Name) => void;
  /** What follows the tabs in their line. */
  after?: ComponentChildren;
  /** The content of the selected tab. */
  children: ComponentChildren;
}

export const Tabs = <Name extends string>({
  id,
  label,
  tabs,
  selected,
  onSelect,
  after,
  children,
}: TabsProps<Name>) => {
  const list = useRef<HTMLDivElement>(null);
  const index = tabs.findIndex(({ name }) => name === selected);
  const move = (event: KeyboardEvent) => {
    const last = tabs.length - 1;
    const next = {
      ArrowRight: index === last ? 0 : index + 1,
      ArrowLeft: index === 0 ? last : index - 1,
      Home: 0,
      End: last,
    }[event.key];
    const name = next === undefined ? undefined : tabs[next]?.name;
    if (next === undefined || name === undefined) return;
    event.preventDefault();
    onSelect(name);
    list.current?.querySelectorAll('button')[next]?.focus();
  };
  return (
    <>
      <div class="tabline">
        <div class="tablist" role="tablist" aria-label={label} ref={list} onKeyDown={move}>
          {tabs.map(({ name, label, icon, count }) => (
            <button
              type="button"
              role="tab"
              key={name}
              id={`${id}-${name}`}
              aria-selected={name === selected}
              aria-controls={`${id}-panel`}
              tabIndex={name === selected ? 0 : -1}
              onClick={() => onSelect(name)}
            >
              {icon && <Icon name={icon} />}
              {label}
              {count !== undefined && count.number > 0 && (
                <span class="tab-count">
                  {count.number}
                  <span class="unseen"> {count.of}</span>
                </span>
              )}
            </button>
          ))}
        </div>
        {after}
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the ARIA pattern has the panel take the focus after its tab */}
      <div class="tabpanel" role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${selected}`} tabIndex={0}>
        {children}
      </div>
    </>
  );
};
