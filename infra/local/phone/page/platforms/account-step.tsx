/** The account that is connected: one that exists, or a new one. */
import { useState } from 'preact/hooks';
import type { AccountView } from '../../connect/views.ts';
import { Skeleton } from '../parts.tsx';
import { spacedNumber } from '../text.tsx';
import { type PlatformName, titles } from './words.ts';

/** An account that exists; with a number if its bot has none yet. */
export interface ChosenAccount {
  id: string;
  bot_number?: string;
}

/** An account that is created. */
export interface NewAccount {
  id?: undefined;
  bot_number: string;
}

interface AccountStepProps {
  accounts: AccountView[] | undefined;
  /** The id of the account that was chosen before. */
  chosen: string;
  platform: PlatformName;
  onSubmit: (account: ChosenAccount | NewAccount, name?: string) => void;
}

export const AccountStep = ({ accounts, chosen, platform, onSubmit }: AccountStepProps) => {
  const [picked, setPicked] = useState<string>();
  const [name, setName] = useState('');
  const [number, setNumber] = useState('');
  if (accounts === undefined) return <Skeleton rows={3} />;
  const selected = picked ?? (accounts.some(({ id }) => id === chosen) ? chosen : (accounts[0]?.id ?? ''));
  const account = accounts.find(({ id }) => id === selected);
  const needsNumber = account === undefined || account.bot_number === null;
  const replaced = account?.platform && account.platform !== platform && account.state !== 'connecting';
  // People write numbers with + and spaces.
  const digits = number.replaceAll(/[^0-9]/g, '');
  const submit = (event: Event) => {
    event.preventDefault();
    if (account === undefined) onSubmit({ bot_number: digits }, name.trim());
    else onSubmit({ id: account.id, ...(needsNumber && { bot_number: digits }) });
  };
  return (
    <form id="account-form" class="account-form" onSubmit={submit}>
      <fieldset class="choices">
        <legend class="unseen">Account</legend>
        {accounts.map(({ id, name, bot_number, platform }) => (
          <label key={id} class="choice">
            <input type="radio" name="account" checked={id === selected} onChange={() => setPicked(id)} />
            <span>
              <strong>{name}</strong>
              <span class="quiet">
                {platform === null ? 'Not connected' : titles[platform]}
                {bot_number !== null && `, bot ${spacedNumber(bot_number)}`}
              </span>
            </span>
          </label>
        ))}
        <label class="choice">
          <input type="radio" name="account" checked={account === undefined} onChange={() => setPicked('')} />
          <span>
            <strong>A new account</strong>
            <span class="quiet">For a business that does not use the service yet.</span>
          </span>
        </label>
      </fieldset>
      {account === undefined && (
        <label class="wizard-input">
          Name of the business
          <input required value={name} maxLength={100} onInput={({ currentTarget }) => setName(currentTarget.value)} />
        </label>
      )}
      {needsNumber && (
        <label class="wizard-input">
          Number of its bot, with country code
          <input
            required
            inputMode="tel"
            autoComplete="off"
            value={number}
            placeholder="+44 7700 900020"
            onInput={({ currentTarget }) => setNumber(currentTarget.value)}
          />
        </label>
      )}
      {replaced && account?.platform && (
        <p class="wizard-warning" role="status">
          {account.name} is connected to {titles[account.platform]}. The check at the end replaces its settings.
        </p>
      )}
    </form>
  );
};
