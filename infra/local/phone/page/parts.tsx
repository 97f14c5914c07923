/** Small parts of several views. */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { present } from './data/present.ts';
import { Icon, type IconName } from './icons.tsx';
import { areKeysOn, isTyping } from './keys.tsx';

/** The present on the stack's clock in milliseconds, again each second. */
export const usePresent = (): number => {
  const [time, setTime] = useState(present());
  useEffect(() => {
    const timer = setInterval(() => setTime(present()), 1_000);
    return () => clearInterval(timer);
  }, []);
  return time;
};

interface CopyProps {
  text: string;
  /** What is copied: the label of the button. */
  label: string;
  icon: IconName;
}

const COPIED_MS = 2_000;

export const Copy = ({ text, label, icon }: CopyProps) => {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), COPIED_MS);
  };
  return (
    <button type="button" class="icon-button" title={label} onClick={() => void copy()}>
      <Icon name={copied ? 'check' : icon} />
      <span class="unseen" role="status">
        {copied ? 'Copied' : label}
      </span>
    </button>
  );
};

interface EmptyProps {
  icon: IconName;
  children: ComponentChildren;
}

/** An empty place: an icon, a sentence, an action. */
export const Empty = ({ icon, children }: EmptyProps) => (
  <div class="empty">
    <Icon name={icon} />
    {children}
  </div>
);

/** The shapes of rows, while they are loading. */
export const Skeleton = ({ rows }: { rows: number }) => (
  <div class="skeleton" role="status">
    <span class="unseen">Loading …</span>
    {Array.from({ length: rows }, (_, place) => (
      <span key={place} class="shape" />
    ))}
  </div>
);

/** J, K and the arrow keys move the focus from row to row. */
export const moveFocus = (event: KeyboardEvent & { currentTarget: HTMLElement }): void => {
  const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
  if (step === undefined || event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
  if (event.key.length === 1 && !areKeysOn()) return;
  const rows = [...event.currentTarget.querySelectorAll<HTMLElement>('.row-button')];
  const { activeElement } = document;
  const place = activeElement instanceof HTMLElement ? rows.indexOf(activeElement) : -1;
  const next = rows[place === -1 ? 0 : place + step];
  event.preventDefault();
  next?.focus();
};

/** The button that closes a detail: a cross; where there is no room for list and detail, an arrow with the list's name. */
export const Close = ({ onClose, label }: { onClose: () => void; label: string }) => (
  <button type="button" class="icon-button close" title="Close" onClick={onClose}>
    <Icon name="close" />
    <Icon name="back" />
    <span class="unseen">Close</span>
    <span class="close-label" aria-hidden="true">
      {label}
    </span>
  </button>
);
