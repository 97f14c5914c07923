/** Tabs by the ARIA pattern: the arrow keys, Home and End select a tab. */
import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';

interface TabsProps {
  label: string;
  tabs: { name: string; content: ComponentChildren }[];
}

export const Tabs = ({ label, tabs }: TabsProps) => {
  const [selected, setSelected] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const select = (place: number) => {
    setSelected(place);
    list.current?.querySelectorAll('button')[place]?.focus();
  };
  const move = (event: KeyboardEvent) => {
    const last = tabs.length - 1;
    const next = {
      ArrowRight: selected === last ? 0 : selected + 1,
      ArrowLeft: selected === 0 ? last : selected - 1,
      Home: 0,
      End: last,
    }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    select(next);
  };
  const shown = tabs[selected];
  return (
    <div class="tabs">
      <div role="tablist" aria-label={label} ref={list} onKeyDown={move}>
        {tabs.map(({ name }, place) => (
          <button
            type="button"
            role="tab"
            key={name}
            id={`tab-${name}`}
            aria-selected={place === selected}
            aria-controls="tab-panel"
            tabIndex={place === selected ? 0 : -1}
            onClick={() => setSelected(place)}
          >
            {name}
          </button>
        ))}
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the ARIA pattern has the panel take the focus after its tab */}
      <div role="tabpanel" id="tab-panel" aria-labelledby={`tab-${shown?.name}`} tabIndex={0}>
        {shown?.content}
      </div>
    </div>
  );
};
