/** The search: filters the list as the user types; Enter opens the trace of an id. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '../../../../web/icons.tsx';
import type { TraceView } from '../../traces/views.ts';
import type { Address, Go } from '../data/address.ts';
import { read } from '../data/api.ts';
import { useKeys } from '../keys.tsx';

/** The least length of an id that is looked up. */
const LEAST = 8;

export const Search = ({ address, go }: { address: Address; go: Go }) => {
  const field = useRef<HTMLInputElement>(null);
  const [open, setOpen] = useState(false);
  useKeys({ '/': () => setOpen(true) });
  useEffect(() => {
    if (open) field.current?.focus();
  }, [open]);
  /** An id leads to its trace, also if the list does not contain it any more. */
  const lookUp = async () => {
    const id = address.q.trim();
    if (id.length < LEAST || /^[+\d\s]*$/.test(id)) return;
    const found = await read<TraceView>(`/view/traces/${encodeURIComponent(id)}`).catch(() => undefined);
    if (found) go({ tab: 'activity', view: 'traces', trace: found.id, q: '' });
  };
  return (
    <search class={`search ${open || address.q ? 'open' : ''}`}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void lookUp();
        }}
      >
        <button type="button" class="icon-button search-open" title="Search" onClick={() => setOpen(true)}>
          <Icon name="search" />
          <span class="unseen">Search</span>
        </button>
        <div class="search-field">
          <Icon name="search" />
          <label class="unseen" for="search">
            Search by trace, message id or phone number
          </label>
          <input
            id="search"
            type="search"
            ref={field}
            placeholder="Trace, message id or phone"
            value={address.q}
            onInput={({ currentTarget }) => go({ q: currentTarget.value })}
            onBlur={() => setOpen(false)}
            onKeyDown={(event) => {
              if (event.key !== 'Escape') return;
              event.preventDefault();
              event.stopPropagation();
              go({ q: '' });
              event.currentTarget.blur();
            }}
          />
          <kbd>/</kbd>
        </div>
      </form>
    </search>
  );
};
