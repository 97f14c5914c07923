/** The rail of users, whose phones can be opened, and a form to add a number. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '../../../../web/icons.tsx';
import { numberOf } from '../../../../web/text.tsx';
import type { PhoneSummary } from '../../views.ts';
import { PersonAvatar } from '../avatars.tsx';
import { parsePhone } from '../data/phone-number.ts';
import { ifChanged } from '../if-changed.ts';

interface UsersProps {
  users: PhoneSummary[];
  open: string;
  onOpen: (phone: string) => void;
}

export const Users = ({ users, open, onOpen }: UsersProps) => (
  <nav class="users" aria-label="Users">
    <h2>Users</h2>
    <ul>
      {users.map((user) => (
        <li key={user.phone}>
          <User user={user} isOpen={user.phone === open} onOpen={onOpen} />
        </li>
      ))}
    </ul>
    <AddUser onOpen={onOpen} />
  </nav>
);

/** How many messages and requests a user has not seen. */
export const newsOf = ({ unread, asks }: PhoneSummary): number => unread.length + asks;

interface UserProps {
  user: PhoneSummary;
  isOpen: boolean;
  onOpen: (phone: string) => void;
}

const User = ifChanged(({ user, isOpen, onOpen }: UserProps) => {
  const { phone, name } = user;
  const news = newsOf(user);
  return (
    <button
      type="button"
      class="user"
      aria-current={isOpen ? 'true' : undefined}
      title={`${name ?? 'Unknown name'}, ${numberOf(phone)}`}
      onClick={() => onOpen(phone)}
    >
      <span class="user-face">
        <PersonAvatar {...user} />
        {news > 0 && (
          <span class="badge">
            {news}
            <span class="unseen"> new</span>
          </span>
        )}
      </span>
      <span class="user-name one-line">
        {name ?? `…${phone.slice(-4)}`}
        <span class="unseen">, {numberOf(phone)}</span>
      </span>
    </button>
  );
});

export const AddUser = ({ onOpen }: { onOpen: (phone: string) => void }) => {
  const [number, setNumber] = useState('');
  const [problem, setProblem] = useState('');
  const [open, setOpen] = useState(false);
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!open) return;
    place.current?.querySelector('input')?.focus();
    const close = ({ target }: Event) => {
      if (!(target instanceof Node && place.current?.contains(target))) setOpen(false);
    };
    document.addEventListener('pointerdown', close);
    return () => document.removeEventListener('pointerdown', close);
  }, [open]);
  const submit = () => {
    const parsed = parsePhone(number);
    if ('problem' in parsed) return setProblem(parsed.problem);
    setNumber('');
    setProblem('');
    setOpen(false);
    onOpen(parsed.phone);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it handles Escape for the form within
    <div
      class="add"
      ref={place}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !open) return;
        event.stopPropagation();
        setOpen(false);
        place.current?.querySelector('button')?.focus();
      }}
    >
      <button type="button" class="user" aria-expanded={open} onClick={() => setOpen(!open)}>
        <span class="avatar add-face" aria-hidden="true">
          <Icon name="plus" />
        </span>
        <span class="user-name one-line">
          Add<span class="unseen"> a user</span>
        </span>
      </button>
      {open && (
        <form
          class="add-form"
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            submit();
          }}
        >
          <label for="number">Open any number</label>
          <div class="row">
            <input
              id="number"
              inputMode="tel"
              autoComplete="off"
              placeholder="+44 7700 900002"
              value={number}
              aria-invalid={problem !== ''}
              aria-describedby="number-problem"
              onInput={({ currentTarget }) => {
                setNumber(currentTarget.value);
                setProblem('');
              }}
            />
            <button type="submit">Open</button>
          </div>
          <p id="number-problem" class="problem" role="alert">
            {problem}
          </p>
        </form>
      )}
    </div>
  );
};
