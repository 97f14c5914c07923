/** The list of accounts, with their platforms. */
import type { ComponentChildren } from 'preact';
import type { AccountView } from '../../connect/views.ts';
import { BusinessAvatar } from '../avatars/business-avatar.tsx';
import { Icon } from '../icons.tsx';
import { Empty, moveFocus, Skeleton } from '../parts.tsx';
import { spacedNumber, Time } from '../text.tsx';
import { titles } from './words.ts';

interface AccountListProps {
  accounts: AccountView[] | undefined;
  /** The id of the open account. */
  open: string;
  onOpen: (id: string) => void;
  onConnect: () => void;
  /** What follows the list: help for the wizard. */
  children: ComponentChildren;
}

export const AccountList = ({ accounts, open, onOpen, onConnect, children }: AccountListProps) => (
  <section class="list-pane" aria-labelledby="accounts-title" onKeyDown={moveFocus}>
    <header class="list-head">
      <h2 id="accounts-title">Accounts</h2>
      <button type="button" class="with-icon" onClick={onConnect}>
        <Icon name="plug" />
        Connect a platform
      </button>
    </header>
    <div class="list-rows">
      {accounts === undefined && <Skeleton rows={3} />}
      {accounts?.length === 0 && (
        <Empty icon="plug">
          <p>An account is a business, with the number of its bot.</p>
          <button type="button" class="primary" onClick={onConnect}>
            Connect a platform
          </button>
        </Empty>
      )}
      <ul>
        {accounts?.map((account) => (
          <li key={account.id}>
            <Row account={account} isOpen={account.id === open} onOpen={() => onOpen(account.id)} />
          </li>
        ))}
      </ul>
      {children}
    </div>
    <footer class="list-foot">
      <Icon name="lock" />
      Tokens are shown once and stored as a hash
    </footer>
  </section>
);

const Row = ({ account, isOpen, onOpen }: { account: AccountView; isOpen: boolean; onOpen: () => void }) => (
  <button
    type="button"
    class="row-button account-row"
    data-row={account.id}
    aria-current={isOpen ? 'true' : undefined}
    onClick={onOpen}
  >
    <BusinessAvatar {...account} />
    <span class="row-text">
      <span class="row-line">
        <span class="row-title">{account.name}</span>
        <State account={account} />
      </span>
      <span class="row-people">{summaryOf(account)}</span>
    </span>
  </button>
);

const summaryOf = ({ platform, bot_number }: AccountView): string => {
  const bot = bot_number === null ? 'no bot number' : `bot ${spacedNumber(bot_number)}`;
  return platform === null ? `No platform, ${bot}` : `${titles[platform]}, ${bot}`;
};

const looks: Record<AccountView['state'], string> = {
  connecting: 'business',
  working: 'ok',
  failing: 'bad',
  'not connected': '',
};

/** The state of an account's platform, with a word. */
export const State = ({ account: { state, failing_since } }: { account: AccountView }) => (
  <span class={`account-state ${looks[state]}`}>
    {state === 'connecting' && 'Connecting'}
    {state === 'working' && 'Working'}
    {state === 'not connected' && 'Not connected'}
    {state === 'failing' && (
      <>
        Failing
        {failing_since && (
          <>
            {' '}
            since <Time at={failing_since} />
          </>
        )}
      </>
    )}
  </span>
);
