/** The wizard: platform, account, values for the other side, and checks of both directions. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { AccountView, ConnectionView } from '../../connect/views.ts';
import type { Address, Go } from '../data/address.ts';
import { describeError, submit, submitFor } from '../data/api.ts';
import { Icon } from '../icons.tsx';
import { Empty, Skeleton } from '../parts.tsx';
import { AccountStep, type ChosenAccount, type NewAccount } from './account-step.tsx';
import { CheckStep } from './check-step.tsx';
import { Help } from './help.tsx';
import { Values } from './values.tsx';
import { choices, steps, titles } from './words.ts';

interface WizardProps {
  address: Address;
  go: Go;
  accounts: AccountView[] | undefined;
  /** From the third step on; undefined while it is read. */
  connection: ConnectionView | undefined;
  /** Why there is no connection. */
  problem: string | undefined;
  online: boolean;
  /** Called if the connection or the list of accounts has changed. */
  onChanged: () => void;
  onClose: () => void;
}

export const Wizard = (props: WizardProps) => {
  const { address, go, accounts, connection, problem, online, onChanged, onClose } = props;
  const { step, platform } = address;
  const [error, setError] = useState('');
  const [busy, setBusy] = useState(false);
  const [copied, setCopied] = useState<ReadonlySet<string>>(new Set());
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    setError('');
    heading.current?.focus();
  }, [step]);

  const attempt = async (work: () => Promise<void>) => {
    setBusy(true);
    setError('');
    try {
      await work();
    } catch (reason) {
      setError(describeError(reason));
    } finally {
      setBusy(false);
    }
  };
  const chooseAccount = ({ id, bot_number }: ChosenAccount | NewAccount, name?: string) =>
    attempt(async () => {
      const account = id ?? (await submitFor<{ id: string }>('/accounts', { name: name ?? '', bot_number })).id;
      await submit('PUT', `/connections/${encodeURIComponent(account)}`, {
        platform,
        ...(id !== undefined && bot_number !== undefined && { bot_number }),
      });
      onChanged();
      go({ account, step: 3 });
    });
  const finish = () =>
    attempt(async () => {
      await submit('DELETE', `/connections/${encodeURIComponent(address.account)}`);
      onChanged();
      // The user's phone opens the chat with the bot, to try the connection.
      go({ step: 0, platform: '', screen: 'chat', chat: connection?.account.bot_number ?? '' });
    });
  const back = () => (step === 1 ? onClose() : go({ step: step - 1 }));
  const frame = (title: string, about: string, footer: ComponentChildren, children: ComponentChildren) => (
    <article class="wizard" aria-labelledby="wizard-title">
      <Stepper step={step} />
      <div class="wizard-body">
        <h2 id="wizard-title" ref={heading} tabIndex={-1}>
          {title}
        </h2>
        <p class="wizard-about">{about}</p>
        {children}
        {error !== '' && (
          <p class="problem" role="alert">
            {error}
          </p>
        )}
      </div>
      <footer class="wizard-foot">
        <button type="button" class="with-icon" onClick={back}>
          <Icon name="back" />
          {step === 1 ? 'Cancel' : 'Back'}
        </button>
        <span class="spacer" />
        {footer}
      </footer>
    </article>
  );

  if (step === 1 || (step === 2 && platform === '')) {
    return frame(
      'Which platform?',
      'The platform receives what users write to the bot, and sends its replies.',
      // Keys, so that a click on one button is not the submission of the next one, which would take its place.
      <button key="platform" type="button" class="primary" disabled={platform === ''} onClick={() => go({ step: 2 })}>
        Continue
      </button>,
      <fieldset class="choices">
        <legend class="unseen">Platform</legend>
        {choices.map(({ name, about }) => (
          <label key={name} class="choice">
            <input type="radio" name="platform" checked={name === platform} onChange={() => go({ platform: name })} />
            <span>
              <strong>{titles[name]}</strong>
              <span class="quiet">{about}</span>
            </span>
          </label>
        ))}
      </fieldset>,
    );
  }
  if (step === 2 && platform !== '') {
    return frame(
      `Connect ${titles[platform]} to which account?`,
      'An account is a business. Users write to the number of its bot.',
      <button key="account" type="submit" class="primary" form="account-form" disabled={busy || !online}>
        Continue
      </button>,
      <AccountStep accounts={accounts} chosen={address.account} platform={platform} onSubmit={chooseAccount} />,
    );
  }
  if (connection === undefined) {
    return frame(
      problem === undefined ? 'Connect a platform' : 'The wizard was closed',
      problem === undefined ? '' : 'Its token was shown once. Begin again to issue another one.',
      null,
      problem === undefined ? (
        <Skeleton rows={4} />
      ) : (
        <Empty icon="plug">
          <button type="button" class="primary" onClick={() => go({ step: 1 })}>
            Begin again
          </button>
        </Empty>
      ),
    );
  }
  const { account, title, fields } = connection;
  const subject = `Connect ${account.name} to ${title}`;
  const values = (
    <Values
      {...{ fields, copied }}
      short={step === 4}
      onCopied={(field) => setCopied((before) => new Set([...before, field]))}
    />
  );
  if (step === 3) {
    const about =
      connection.platform === 'webhook'
        ? 'In the next step, enter the URL of your endpoint. The secret is created then.'
        : `Enter these values in ${title}. Leave its other fields as they are.`;
    return frame(
      subject,
      about,
      <button key="values" type="button" class="primary" onClick={() => go({ step: 4 })}>
        Continue
      </button>,
      <>
        {values}
        <div class="where-here">
          <Help connection={connection} />
        </div>
      </>,
    );
  }
  const isGood = connection.checks?.every(({ result }) => result === 'good') ?? false;
  return frame(
    subject,
    connection.platform === 'webhook' ? 'Enter the URL of your endpoint.' : `Enter what ${title} shows after you save.`,
    <>
      <span class="quiet">{isGood ? 'All checks have passed' : 'All checks must pass'}</span>
      <button
        key="finish"
        type="button"
        class="primary"
        disabled={!isGood || busy || !online}
        onClick={() => void finish()}
      >
        Finish
      </button>
    </>,
    <>
      {values}
      <CheckStep connection={connection} online={online} onChanged={onChanged} />
    </>,
  );
};

const Stepper = ({ step }: { step: number }) => (
  <ol class="stepper" aria-label="Steps">
    {steps.map((name, place) => {
      const isDone = place + 1 < step;
      return (
        <li key={name} aria-current={place + 1 === step ? 'step' : undefined}>
          <span class={`step-sign ${isDone ? 'done' : ''}`}>
            {isDone ? <Icon name="check" /> : place + 1}
            {isDone && <span class="unseen">Done: </span>}
          </span>
          <span class="step-name">{name}</span>
        </li>
      );
    })}
  </ol>
);
