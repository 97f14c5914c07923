/** The most used keys, below the overview. */
import { openKeyMap } from './keys.ts';

const hints: { keys: string[]; does: string }[] = [
  { keys: ['J', 'K'], does: 'move' },
  { keys: ['↵'], does: 'inspect' },
  { keys: ['/'], does: 'search' },
  { keys: ['B'], does: 'send as business' },
];

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
