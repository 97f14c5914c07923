/** Chooses the user on a small page, which has no rail of users. */

import { Icon } from '../../../../web/icons.tsx';
import { spacedNumber } from '../../../../web/text.tsx';
import type { PhoneSummary } from '../../views.ts';
import { PersonAvatar } from '../avatars.tsx';
import { Menu } from './menu.tsx';
import { AddUser, newsOf } from './users.tsx';

interface UserSwitcherProps {
  users: PhoneSummary[];
  open: string;
  onOpen: (phone: string) => void;
}

export const UserSwitcher = ({ users, open, onOpen }: UserSwitcherProps) => {
  const shown = users.find(({ phone }) => phone === open);
  if (shown === undefined) return null;
  return (
    <Menu
      label={`User: ${shown.name ?? spacedNumber(open)}`}
      look="switcher"
      face={
        <>
          <PersonAvatar {...shown} />
          <span class="unseen">User: {shown.name ?? spacedNumber(open)}</span>
          <span class="switcher-sign">
            <Icon name="chevron" />
          </span>
        </>
      }
    >
      {(close) => {
        const choose = (phone: string) => {
          close();
          onOpen(phone);
        };
        return (
          <>
            {users.map((user) => (
              <button
                type="button"
                key={user.phone}
                aria-current={user.phone === open ? 'true' : undefined}
                onClick={() => choose(user.phone)}
              >
                <PersonAvatar {...user} />
                <span class="switcher-name">
                  {user.name ?? 'Unknown name'}
                  <span class="quiet">{spacedNumber(user.phone)}</span>
                </span>
                {newsOf(user) > 0 && (
                  <span class="badge">
                    {newsOf(user)}
                    <span class="unseen"> new</span>
                  </span>
                )}
              </button>
            ))}
            <AddUser onOpen={choose} />
          </>
        );
      }}
    </Menu>
  );
};
