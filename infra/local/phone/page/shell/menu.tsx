/** A button that opens a panel below itself: Escape, a click elsewhere, and a choice close it. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon, type IconName } from '../../../../web/icons.tsx';

interface MenuProps {
  /** The button's tooltip, and the label of the panel. */
  label: string;
  /** The classes of the button. */
  look: string;
  /** What the button shows: also a text, which may be for screen readers only. */
  face: ComponentChildren;
  /** The content; `close` closes the panel. */
  children: (close: () => void) => ComponentChildren;
}

export const Menu = ({ label, look, face, children }: MenuProps) => {
  const [open, setOpen] = useState(false);
  const place = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  useEffect(() => {
    if (!open) return;
    const look = ({ target }: Event) => {
      if (!(target instanceof Node && place.current?.contains(target))) setOpen(false);
    };
    const key = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return;
      event.stopPropagation();
      close();
    };
    document.addEventListener('pointerdown', look);
    // Before other listeners of Escape, which close what is behind the panel.
    document.addEventListener('keydown', key, true);
    return () => {
      document.removeEventListener('pointerdown', look);
      document.removeEventListener('keydown', key, true);
    };
  }, [open]);
  return (
    <div class="menu" ref={place}>
      <button type="button" class={look} title={label} aria-expanded={open} ref={button} onClick={() => setOpen(!open)}>
        {face}
      </button>
      {open && (
        <fieldset class="menu-panel" aria-label={label}>
          {children(close)}
        </fieldset>
      )}
    </div>
  );
};

/** The face of a button that shows only an icon. */
export const IconFace = ({ icon, label }: { icon: IconName; label: string }) => (
  <>
    <Icon name={icon} />
    <span class="unseen">{label}</span>
  </>
);
