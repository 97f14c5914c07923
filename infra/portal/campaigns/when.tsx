/** When people get a campaign: its start, and its hours of the day. */
import { present } from '../../web/clock.ts';
import { Time } from '../../web/text.tsx';
import type { BodyFrom } from '../client.ts';
import { Section, Select, TextField } from '../shell/page.tsx';
import { instantOf, offsetOf, ownZone, toLocal } from '../times.ts';
import { campaigns } from '../words/campaigns.ts';
import type { Draft } from './draft.ts';
import { change } from './memory.ts';
import type { StepProps } from './step.ts';

const words = campaigns.when;

type Hours = BodyFrom<'readConfiguration'>['configuration']['sending_hours'];

interface WhenProps extends StepProps {
  /** The hours of the account. */
  hours: Hours;
  /** Whether these are known. */
  known: boolean;
}

/** `08:00 to 20:00, by the clock of each person's country` */
const sentenceOf = ({ between: [open = '', close = ''], time_zone }: NonNullable<Hours>): string =>
  words.between(open, close, time_zone === 'recipient' ? words.recipient : time_zone);

export const When = ({ draft, faults, tried, hours, known }: WhenProps) => {
  const { isLater, at } = draft;
  const time = instantOf(at);
  const fault = faults.when === 'none' && !tried ? undefined : faults.when && words[faults.when];
  const later = () => change({ isLater: true, at: at || toLocal(present() + 3_600_000) });
  return (
    <Section title={words.title}>
      <div class="parts">
        <fieldset class="choice-list">
          <legend>{words.start}</legend>
          <label class="choice">
            <input type="radio" name="start" checked={!isLater} onChange={() => change({ isLater: false })} />
            {words.now}
          </label>
          <label class="choice">
            <input type="radio" name="start" checked={isLater} onChange={later} />
            {words.later}
          </label>
        </fieldset>
        {isLater && (
          <div class="narrow-field">
            <TextField
              label={words.at}
              hint={words.zone(ownZone(), offsetOf(time?.getTime() ?? present()))}
              error={fault}
              type="datetime-local"
              min={toLocal(present())}
              value={at}
              onValue={(value) => change({ at: value })}
            />
            {time && faults.when === undefined && (
              <p class="quiet">
                {words.starts} <Time at={time.toISOString()} as="when" />
              </p>
            )}
          </div>
        )}
        <HoursFields draft={draft} faults={faults} hours={hours} known={known} />
      </div>
    </Section>
  );
};

const HoursFields = ({ draft, faults, hours, known }: Pick<WhenProps, 'draft' | 'faults' | 'hours' | 'known'>) => {
  const choices = [
    {
      value: 'account',
      label: hours ? words.account(sentenceOf(hours)) : known ? words.accountNone : words.account(undefined),
    },
    { value: 'own', label: words.own },
    // Without hours of the account, it is the first one.
    ...(hours || !known ? [{ value: 'any', label: words.any } as const] : []),
  ] as const;
  const zones = [...new Set(['recipient', ownZone(), ...(hours ? [hours.time_zone] : [])])];
  const times = [
    { label: words.from, key: 'open' },
    { label: words.to, key: 'close' },
  ] as const;
  return (
    <>
      <fieldset class="choice-list">
        <legend>{words.hours}</legend>
        {choices.map(({ value, label }) => (
          <label class="choice" key={value}>
            <input
              type="radio"
              name="hours"
              checked={draft.hours === value}
              onChange={() => change({ hours: value })}
            />
            {label}
          </label>
        ))}
        <p class="quiet">{words.hoursHint}</p>
      </fieldset>
      {draft.hours === 'own' && (
        <div class="own-hours">
          {times.map(({ label, key }) => (
            <TextField
              key={key}
              label={label}
              error={key === 'close' && faults.hours ? words.same : undefined}
              type="time"
              required
              value={draft[key]}
              // An incomplete time has no value: the last one stays.
              onValue={(value) => value && change({ [key]: value } as Partial<Draft>)}
            />
          ))}
          <Select label={words.hoursZone} value={draft.zone} onValue={(value) => change({ zone: value })}>
            {zones.map((zone) => (
              <option key={zone} value={zone}>
                {zone === 'recipient' ? words.recipient : zone}
              </option>
            ))}
          </Select>
        </div>
      )}
    </>
  );
};
