/** Small parts of pages. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon, type IconName } from './icons.tsx';

interface CopyProps {
  text: string;
  /** What is copied: the label of the button. */
  label: string;
  /** Whether the label is visible. Default: only the icon is. */
  labelled?: boolean;
}

const COPIED = 'Copied';
const COPIED_MS = 2_000;

export const Copy = ({ text, label, labelled = false }: CopyProps) => {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), COPIED_MS);
  };
  return (
    <>
      <button
        type="button"
        class={labelled ? 'copy' : 'icon-button'}
        title={labelled ? undefined : label}
        onClick={() => void copy()}
      >
        <Icon name={copied ? 'check' : 'copy'} />
        <span class={labelled ? '' : 'unseen'}>{labelled && copied ? COPIED : label}</span>
      </button>
      {/* Not in the button: a status is no part of its name. */}
      <span class="unseen" role="status">
        {copied && COPIED}
      </span>
    </>
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

export type Tone = 'ok' | 'warn' | 'bad' | 'business' | 'plain';

const toneIcons: Record<Tone, IconName | undefined> = {
  ok: 'check',
  warn: 'alert',
  bad: 'cross',
  business: 'send',
  plain: undefined,
};

/** A status: a word and an icon, so that its colour is not needed. */
export const Chip = ({ tone, children }: { tone: Tone; children: ComponentChildren }) => (
  <span class={`chip ${tone}`}>
    {toneIcons[tone] && <Icon name={toneIcons[tone]} />}
    {children}
  </span>
);

interface NoticeProps {
  tone: 'ok' | 'warn' | 'bad' | 'plain';
  title?: string;
  children?: ComponentChildren;
}

/** A message beside the content that it concerns. Errors are announced at once. */
export const Notice = ({ tone, title, children }: NoticeProps) => (
  <div class={`notice ${tone}`} role={tone === 'bad' ? 'alert' : 'status'}>
    <Icon name={toneIcons[tone] ?? 'book'} />
    <div>
      {title && <strong>{title}</strong>}
      {children}
    </div>
  </div>
);

interface DialogProps {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  /** Buttons at the end, besides the one that closes. */
  actions?: ComponentChildren;
  /** The label of the button that closes. */
  close: string;
  wide?: boolean;
}

/** A modal dialog, which is open as long as it exists. The focus returns to where it was. */
export const Dialog = ({ title, onClose, children, actions, close, wide = false }: DialogProps) => {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog ref={dialog} class={wide ? 'wide' : ''} aria-label={title} onClose={onClose}>
      <h2>{title}</h2>
      <div class="dialog-body">{children}</div>
      <div class="dialog-actions">
        <button type="button" onClick={onClose}>
          {close}
        </button>
        {actions}
      </div>
    </dialog>
  );
};
