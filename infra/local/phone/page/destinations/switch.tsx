/** The switch of a destination: a short one, and the whole one with the share of calls and the user. */

import { numberOf } from '../../../../web/text.tsx';
import type { DestinationView, Mode } from '../../destinations/views.ts';
import type { PhoneSummary } from '../../views.ts';
import type { Switches } from './use-switches.ts';
import { choicesFor, modeEffects, modeWords, shares } from './words.ts';

interface ModeSelectProps {
  destination: DestinationView;
  set: Switches['set'];
  disabled: boolean;
}

/** Only the position. */
export const ModeSelect = ({ destination, set, disabled }: ModeSelectProps) => {
  const { server, name, mode } = destination;
  return (
    <select
      class={`mode-select ${mode === 'normal' ? '' : 'active'}`}
      aria-label={`Switch of ${name}`}
      value={mode}
      disabled={disabled}
      onChange={({ currentTarget }) => {
        const chosen = choicesFor(mode).find((one) => one === currentTarget.value);
        if (chosen !== undefined && chosen !== 'other') set(server, { mode: chosen });
      }}
    >
      {choicesFor(mode).map((one) => (
        <option key={one} value={one} disabled={one === 'other'}>
          {modeWords[one]}
        </option>
      ))}
    </select>
  );
};

interface SwitchProps extends ModeSelectProps {
  users: PhoneSummary[];
  /** Called after the switch is set to normal. */
  onNormal: () => void;
}

/** The position, the share of calls, and the user. */
export const Switch = ({ destination, users, set, disabled, onNormal }: SwitchProps) => {
  const { server, name, mode, share, phone } = destination;
  const isActive = mode !== 'normal';
  // Own rules have no position that a changed share could keep.
  const canScope = isActive && mode !== 'other';
  const choose = (chosen: Mode) => {
    set(server, { mode: chosen });
    if (chosen === 'normal') onNormal();
  };
  return (
    <fieldset class="destination-switch" disabled={disabled}>
      <legend>{name}</legend>
      {choicesFor(mode).map((one) => (
        <label key={one} class="mode">
          <input
            type="radio"
            name={`mode-${server}`}
            checked={one === mode}
            disabled={one === 'other'}
            onChange={() => one !== 'other' && choose(one)}
          />
          <span>
            {modeWords[one]}
            <span class="quiet">{one === 'other' ? 'Set by a request to the simulator.' : modeEffects[one]}</span>
          </span>
        </label>
      ))}
      {canScope && (
        <div class="mode-scope">
          <div>
            <label for={`share-${server}`}>Calls</label>
            <select
              id={`share-${server}`}
              value={String(share)}
              onChange={({ currentTarget }) => set(server, { share: Number(currentTarget.value) })}
            >
              {[
                ...shares,
                ...(shares.some((one) => one.share === share) ? [] : [{ share, label: `${share * 100} %` }]),
              ].map(({ share: part, label }) => (
                <option key={part} value={String(part)}>
                  {label}
                </option>
              ))}
            </select>
          </div>
          <div>
            <label for={`user-${server}`}>Of</label>
            <select
              id={`user-${server}`}
              value={phone ?? ''}
              onChange={({ currentTarget }) => set(server, { phone: currentTarget.value || null })}
            >
              <option value="">All users</option>
              {withUser(users, phone).map((user) => (
                <option key={user.phone} value={user.phone}>
                  {user.name ?? numberOf(user.phone)}
                </option>
              ))}
            </select>
          </div>
        </div>
      )}
      {isActive && (
        <button type="button" onClick={() => choose('normal')}>
          Set to normal
        </button>
      )}
    </fieldset>
  );
};

/** The users, with the chosen one, who may be unknown. */
const withUser = (users: PhoneSummary[], phone: string | null): Pick<PhoneSummary, 'phone' | 'name'>[] =>
  phone === null || users.some((user) => user.phone === phone) ? users : [...users, { phone, name: null }];
