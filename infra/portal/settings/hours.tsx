/** Between which times of the day users get messages. */
import { useState } from 'preact/hooks';
import { useToast } from '../../web/toast.tsx';
import { call } from '../client.ts';
import { Failure } from '../shell/failure.tsx';
import { Section, Select, TextField } from '../shell/page.tsx';
import { useAction } from '../use-call.ts';
import { settings } from '../words/settings.ts';
import type { Configuration } from './appearance.tsx';

const words = settings.hours;

/** In place of a zone: that of the user's country. */
const RECIPIENT = 'recipient';

const zones = Intl.supportedValuesOf('timeZone');

interface HoursProps {
  given: Configuration['sending_hours'];
  onChange: () => void;
}

export const Hours = ({ given, onChange }: HoursProps) => {
  const [isLimited, setIsLimited] = useState(given !== undefined);
  const [from, setFrom] = useState(given?.between[0] ?? '08:00');
  const [to, setTo] = useState(given?.between[1] ?? '20:00');
  const [zone, setZone] = useState(given?.time_zone ?? RECIPIENT);
  const toast = useToast();
  const isValid = from !== '' && to !== '' && from !== to;
  const save = useAction(async () => {
    await call('updateAccount', {
      body: { sending_hours: isLimited ? { between: [from, to], time_zone: zone } : null },
    });
    toast(settings.saved);
    onChange();
  });
  const submit = (event: Event) => {
    event.preventDefault();
    if (!isLimited || isValid) save.run();
  };
  return (
    <Section title={words.title}>
      <form class="form" noValidate onSubmit={submit}>
        <p>{words.text}</p>
        <fieldset class="field">
          <legend class="unseen">{words.title}</legend>
          <label class="choice">
            <input type="radio" name="hours" checked={!isLimited} onChange={() => setIsLimited(false)} />
            {words.any}
          </label>
          <label class="choice">
            <input type="radio" name="hours" checked={isLimited} onChange={() => setIsLimited(true)} />
            {words.between}
          </label>
        </fieldset>
        {isLimited && (
          <div class="hours">
            <TextField label={words.from} type="time" value={from} onValue={setFrom} />
            <TextField
              label={words.to}
              {...(isValid && from > to && { hint: words.overnight })}
              error={isValid ? undefined : words.invalid}
              type="time"
              value={to}
              onValue={setTo}
            />
            <Select label={words.zone} value={zone} onValue={setZone}>
              <option value={RECIPIENT}>{words.recipient}</option>
              {[...new Set([...zones, ...(zone === RECIPIENT ? [] : [zone])])].map((name) => (
                <option key={name} value={name}>
                  {name.replaceAll('_', ' ')}
                </option>
              ))}
            </Select>
          </div>
        )}
        <Failure error={save.error} />
        <div class="buttons">
          <button type="submit" class="primary" aria-label={words.save} disabled={save.busy}>
            {save.busy ? settings.saving : settings.save}
          </button>
          <span class="quiet">{words.effect}</span>
        </div>
      </form>
    </Section>
  );
};
