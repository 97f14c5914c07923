/** What the platform shows, and the checks of both directions. */
import { useRef, useState } from 'preact/hooks';
import type { CheckView, ConnectionView } from '../../connect/views.ts';
import { describeError, submit, submitFor } from '../data/api.ts';
import { Icon } from '../icons.tsx';

interface CheckStepProps {
  connection: ConnectionView;
  online: boolean;
  onChanged: () => void;
}

export const CheckStep = ({ connection, online, onChanged }: CheckStepProps) => {
  const { account, settings, title, simulated, checks } = connection;
  const [entered, setEntered] = useState<Record<string, string>>({});
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState('');
  const form = useRef<HTMLFormElement>(null);
  const path = `/connections/${encodeURIComponent(account.id)}`;
  const shownIn = ({ setting, value }: (typeof settings)[number]) => entered[setting] ?? value;
  const isFailed = checks?.some(({ result }) => result === 'failed') ?? false;
  const attempt = async (work: () => Promise<void>) => {
    setBusy(true);
    setError('');
    await work().catch((reason: unknown) => setError(describeError(reason)));
    setBusy(false);
  };
  const check = (event: Event) => {
    event.preventDefault();
    void attempt(async () => {
      const given = Object.fromEntries(settings.map((one) => [one.setting, shownIn(one).trim()]));
      // The simulator also shows settings without a field, such as its URL.
      await submit('POST', `${path}/checks`, { settings: { ...entered, ...given } });
      onChanged();
    });
  };
  const simulate = () =>
    void attempt(async () => {
      const shown = await submitFor<Record<string, string>>(`${path}/simulation`, {});
      setEntered({ ...entered, ...shown });
    });
  const correct = () => form.current?.querySelector('input')?.focus();
  return (
    <form class="check-step" ref={form} onSubmit={check}>
      {simulated && (
        <p class="simulate">
          <button type="button" disabled={busy || !online} onClick={simulate}>
            Save the form in the simulated {title}
          </button>
          <span class="quiet">The local stack has a simulator in the place of {title}.</span>
        </p>
      )}
      {settings.map((one) => (
        <div key={one.setting} class="wizard-input">
          <label for={`setting-${one.setting}`}>
            {one.label}
            {!one.required && <span class="quiet"> (optional)</span>}
          </label>
          <SettingInput
            setting={one}
            value={shownIn(one)}
            isWrong={isFailed && one.setting === settings[0]?.setting}
            onEnter={(value) => setEntered({ ...entered, [one.setting]: value })}
          />
          <span class="quiet" id={`where-${one.setting}`}>
            {one.where}
          </span>
        </div>
      ))}
      {error !== '' && (
        <p class="problem" role="alert">
          {error}
        </p>
      )}
      <section class="checks" aria-labelledby="checks-title" aria-busy={busy}>
        <header>
          <h3 id="checks-title">Checks</h3>
          <button type="submit" class="with-icon" disabled={busy || !online}>
            <Icon name="retry" />
            {busy ? 'Checking …' : checks === null ? 'Check' : 'Check again'}
          </button>
        </header>
        <div role="status">
          {checks === null && <p class="quiet">The check stores the settings. No person gets a message.</p>}
          <ul>
            {checks?.map((one) => (
              <Check key={one.title} check={one} onCorrect={correct} />
            ))}
          </ul>
        </div>
      </section>
    </form>
  );
};

interface SettingInputProps {
  setting: ConnectionView['settings'][number];
  value: string;
  /** Whether the last check failed, and this setting is the likely cause. */
  isWrong: boolean;
  onEnter: (value: string) => void;
}

const SettingInput = ({ setting, value, isWrong, onEnter }: SettingInputProps) => {
  const { required, known, secret, example } = setting;
  const attributes = {
    id: `setting-${setting.setting}`,
    'aria-describedby': `where-${setting.setting}`,
    required: required && !known,
    autoComplete: 'off',
    spellcheck: false,
    value,
    placeholder: secret && known ? 'Stored; enter another one to replace it' : example,
    ...(isWrong && { 'aria-invalid': 'true' as const }),
    onInput: ({ currentTarget }: { currentTarget: HTMLInputElement }) => onEnter(currentTarget.value),
  };
  return secret ? <input type="password" {...attributes} /> : <input type="text" {...attributes} />;
};

const Check = ({ check, onCorrect }: { check: CheckView; onCorrect: () => void }) => {
  const { title, result, detail, fix, status, ms } = check;
  const isGood = result === 'good';
  return (
    <li class={`check ${isGood ? 'ok' : 'bad'}`}>
      <span class="check-sign">
        <Icon name={isGood ? 'check' : 'close'} />
      </span>
      <span class="check-text">
        <strong>
          <span class="unseen">{isGood ? 'Passed: ' : 'Failed: '}</span>
          {title}
        </strong>
        <span>{detail}</span>
        {fix !== null && <span>{fix}</span>}
      </span>
      <span class="check-result">
        {status !== null && <code>{status}</code>}
        {isGood && ms !== null && <span class="quiet">{ms} ms</span>}
        {!isGood && (
          <button type="button" onClick={onCorrect}>
            Correct it
          </button>
        )}
      </span>
    </li>
  );
};
