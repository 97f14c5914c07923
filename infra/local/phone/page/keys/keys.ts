/** Single keys: off while the user types, and if the user has turned them off. */
import { useEffect, useState } from 'preact/hooks';

const KEY = 'single-keys';
/** The event that opens the list of all keys. */
export const OPEN_KEYS = 'open-keys';
const CHANGED = 'single-keys-changed';

export const areKeysOn = (): boolean => localStorage.getItem(KEY) !== 'off';

/** Whether single keys are on, and a function that turns them on or off. */
export const useKeysOn = (): [boolean, (on: boolean) => void] => {
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
export const isTyping = ({ target }: Event): boolean =>
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

export const openKeyMap = (): void => void dispatchEvent(new Event(OPEN_KEYS));
