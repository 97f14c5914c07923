/** Single keys: off while the user types, and if the user has turned them off. The most used ones, and all of them. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '../../../web/icons.tsx';

const KEY = 'single-keys';
/** The event that opens the list of all keys. */
const OPEN_KEYS = 'open-keys';
const CHANGED = 'single-keys-changed';

const areKeysOn = (): boolean => localStorage.getItem(KEY) !== 'off';

/** Whether single keys are on, and a function that turns them on or off. */
const useKeysOn = (): [boolean, (on: boolean) => void] => {
  const [on, setOn] = useState(areKeysOn);
  useEffect(() => {
    const look = () => setOn(areKeysOn());
    addEventListener(CHANGED, look);
    return () => removeEventListener(CHANGED, look);
  }, []);
  const change = (next: boolean) => {
    if (next) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, 'off');
    dispatchEvent(new Event(CHANGED));
  };
  return [on, change];
};

/** Whether a key is for a field. */
const isTyping = ({ target }: Event): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches('textarea, select, input:not([type="checkbox"], [type="radio"])'));

/** Calls the action of a single key. While a dialog is open, keys are for it. */
export const useKeys = (actions: Record<string, () => unknown>): void => {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const { key, ctrlKey, metaKey, altKey, isComposing, defaultPrevented, repeat } = event;
      const action = Object.entries(actions).find(([name]) => name === key.toLowerCase())?.[1];
      if (action === undefined || ctrlKey || metaKey || altKey || isComposing || repeat || defaultPrevented) return;
      if (isTyping(event) || !areKeysOn() || document.querySelector('dialog[open]')) return;
      event.preventDefault();
      action();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  });
};

const openKeyMap = (): void => void dispatchEvent(new Event(OPEN_KEYS));

const hints: { keys: string[]; does: string }[] = [
  { keys: ['J', 'K'], does: 'move' },
  { keys: ['↵'], does: 'inspect' },
  { keys: ['/'], does: 'search' },
  { keys: ['B'], does: 'send as business' },
];

/** The most used keys, below the overview. */
export const KeyHints = () => (
  <p class="key-hints">
    {hints.map(({ keys, does }) => (
      <span key={does}>
        {keys.map((key) => (
          <kbd key={key}>{key}</kbd>
        ))}{' '}
        {does}
      </span>
    ))}
    <button type="button" class="text-button" onClick={openKeyMap}>
      <kbd>?</kbd> all keys
    </button>
  </p>
);

const keys: { keys: string[]; does: string }[] = [
  { keys: ['J', 'K'], does: 'Next and previous row' },
  { keys: ['↵'], does: 'Inspect the row' },
  { keys: ['Esc'], does: 'Close' },
  { keys: ['/'], does: 'Search' },
  { keys: ['B'], does: 'Write as a business' },
  { keys: ['M'], does: 'Write as the user' },
  { keys: ['C'], does: 'Copy the request as cURL' },
  { keys: ['R'], does: 'Send again' },
  { keys: ['P'], does: 'Pause the list' },
  { keys: ['?'], does: 'All keys' },
];

/** All keys, in a dialog, with the switch that turns single keys off. */
export const KeyMap = () => {
  const [open, setOpen] = useState(false);
  const dialog = useRef<HTMLDialogElement>(null);
  const [on, setOn] = useKeysOn();
  useKeys({ '?': () => setOpen(true) });
  useEffect(() => {
    const show = () => setOpen(true);
    addEventListener(OPEN_KEYS, show);
    return () => removeEventListener(OPEN_KEYS, show);
  }, []);
  const onClose = () => setOpen(false);
  useEffect(() => {
    if (open) dialog.current?.showModal();
    else dialog.current?.close();
  }, [open]);
  return (
    <dialog ref={dialog} class="key-map" aria-labelledby="keys-title" onClose={onClose}>
      <header class="block-head">
        <h2 id="keys-title">Keys</h2>
        <button type="button" class="icon-button" title="Close" onClick={onClose}>
          <Icon name="close" />
          <span class="unseen">Close</span>
        </button>
      </header>
      <dl>
        {keys.map(({ keys: names, does }) => (
          <div key={does}>
            <dt>
              {names.map((name) => (
                <kbd key={name}>{name}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <label class="switch">
        <input type="checkbox" checked={on} onChange={() => setOn(!on)} />
        <span>Single keys are on. They are off while you type.</span>
      </label>
    </dialog>
  );
};

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
