/** Platforms: the accounts, and the wizard that connects one to its chat platform. */
import { useState } from 'preact/hooks';
import type { AccountView, ConnectionView } from '../../connect/views.ts';
import type { Address, Go } from '../data/address.ts';
import { useView, useViewOrProblem, type Versions } from '../data/live.ts';
import { Icon } from '../icons.tsx';
import { Close, Empty } from '../parts.tsx';
import { spacedNumber } from '../text.tsx';
import { AccountList, State } from './accounts.tsx';
import { Help } from './help.tsx';
import { Wizard } from './wizard.tsx';
import { type PlatformName, titles } from './words.ts';

interface PlatformsProps {
  versions: Versions;
  address: Address;
  go: Go;
  online: boolean;
}

export const Platforms = ({ versions, address, go, online }: PlatformsProps) => {
  const [changes, setChanges] = useState(0);
  const version = versions.destinations + versions.traces + changes;
  const accounts = useView<AccountView[]>('/view/accounts', versions.destinations && version);
  const { account, step } = address;
  // The values of a connection are known from the third step on, also after a reload.
  const { view: connection, problem } = useViewOrProblem<ConnectionView>(
    `/view/connections/${encodeURIComponent(account)}`,
    step >= 3 && account !== '' ? changes + 1 : 0,
  );
  const open = accounts?.find(({ id }) => id === account);
  const changed = () => setChanges((before) => before + 1);
  const close = () => go({ account: '', step: 0, platform: '' });
  const begin = (id: string, platform: PlatformName | '') => go({ account: id, step: 1, platform });
  const isWizard = step > 0;
  return (
    <section class="split" data-open={isWizard || account !== ''}>
      <AccountList
        accounts={accounts}
        open={account}
        onOpen={(id) =>
          go({ account: id, step: accounts?.find((one) => one.id === id)?.state === 'connecting' ? 3 : 0 })
        }
        onConnect={() => begin('', '')}
      >
        {step >= 3 && connection && <Help connection={connection} />}
      </AccountList>
      <div class="detail-pane platform-pane">
        {isWizard && (
          <Wizard
            key={account}
            {...{ address, go, accounts, online }}
            connection={step >= 3 ? connection : undefined}
            problem={step >= 3 ? problem : undefined}
            onChanged={changed}
            onClose={close}
          />
        )}
        {!isWizard && open && (
          <Account account={open} onClose={close} onConnect={() => begin(open.id, open.platform ?? '')} />
        )}
        {!isWizard && !open && (
          <Empty icon="plug">
            <p>Select an account to see its platform, or connect one.</p>
          </Empty>
        )}
      </div>
    </section>
  );
};

interface AccountProps {
  account: AccountView;
  onClose: () => void;
  onConnect: () => void;
}

const Account = ({ account, onClose, onConnect }: AccountProps) => (
  <article class="detail" aria-labelledby="account-title">
    <header class="detail-head">
      <Close onClose={onClose} label="Accounts" />
      <h2 id="account-title">{account.name}</h2>
      <State account={account} />
    </header>
    <dl class="account-facts">
      <dt>Account</dt>
      <dd>
        <code>{account.id}</code>
      </dd>
      <dt>Platform</dt>
      <dd>{account.platform === null ? 'None yet' : titles[account.platform]}</dd>
      <dt>Number of its bot</dt>
      <dd>{account.bot_number === null ? 'None yet' : spacedNumber(account.bot_number)}</dd>
    </dl>
    <p class="account-actions">
      <button type="button" class="primary with-icon" onClick={onConnect}>
        <Icon name="plug" />
        {account.platform === null ? 'Connect a platform' : 'Connect again'}
      </button>
    </p>
  </article>
);
