/** All keys, in a dialog, with the switch that turns single keys off. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '../icons.tsx';
import { OPEN_KEYS, useKeys, useKeysOn } from './keys.ts';

const keys: { keys: string[]; does: string }[] = [
  { keys: ['J', 'K'], does: 'Next and previous row' },
  { keys: ['↵'], does: 'Inspect the row' },
  { keys: ['Esc'], does: 'Close' },
  { keys: ['/'], does: 'Search' },
  { keys: ['1', '2'], does: 'The tabs of the console' },
  { keys: ['B'], does: 'Write as a business' },
  { keys: ['M'], does: 'Write as the user' },
  { keys: ['C'], does: 'Copy the request as cURL' },
  { keys: ['R'], does: 'Send again' },
  { keys: ['P'], does: 'Pause the list' },
  { keys: ['?'], does: 'All keys' },
];

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
