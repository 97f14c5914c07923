/** What follows when a user writes STOP. */
import { useState } from 'preact/hooks';
import { useToast } from '../../web/toast.tsx';
import { call } from '../client.ts';
import { Failure } from '../shell/failure.tsx';
import { Section, TextArea } from '../shell/page.tsx';
import { useAction } from '../use-call.ts';
import { settings } from '../words/settings.ts';
import type { Configuration } from './appearance.tsx';

const words = settings.stop;

const actions = { none: words.none, tell: words.tell, opt_out: words.optOut } as const;

interface StopKeywordsProps {
  given: Configuration['opt_out_keywords'];
  onChange: () => void;
}

export const StopKeywords = ({ given, onChange }: StopKeywordsProps) => {
  const [action, setAction] = useState<keyof typeof actions>(given?.action ?? 'none');
  const [confirmation, setConfirmation] = useState(given?.confirmation ?? '');
  const toast = useToast();
  const save = useAction(async () => {
    const text = confirmation.trim();
    await call('updateAccount', {
      body: {
        opt_out_keywords:
          action === 'none' ? null : { action, ...(action === 'opt_out' && text !== '' && { confirmation: text }) },
      },
    });
    toast(settings.saved);
    onChange();
  });
  const submit = (event: Event) => {
    event.preventDefault();
    save.run();
  };
  return (
    <Section title={words.title}>
      <form class="form" noValidate onSubmit={submit}>
        <p>{words.text}</p>
        <fieldset class="field">
          <legend class="unseen">{words.title}</legend>
          {(Object.keys(actions) as (keyof typeof actions)[]).map((one) => (
            <label key={one} class="choice">
              <input type="radio" name="stop" checked={action === one} onChange={() => setAction(one)} />
              {actions[one]}
            </label>
          ))}
        </fieldset>
        {action === 'opt_out' && (
          <TextArea
            label={words.confirmation}
            hint={words.confirmationHint}
            rows={2}
            maxLength={4_096}
            placeholder={words.sample}
            value={confirmation}
            onValue={setConfirmation}
          />
        )}
        <Failure error={save.error} />
        <div class="buttons">
          <button type="submit" class="primary" aria-label={words.save} disabled={save.busy}>
            {save.busy ? settings.saving : settings.save}
          </button>
        </div>
      </form>
    </Section>
  );
};
