/** The switch that shows the values of a user, which are masked at first. */
import { Icon } from '../icons.tsx';

interface ValueSwitchProps {
  isOn: boolean;
  onChange: (isOn: boolean) => void;
}

export const ValueSwitch = ({ isOn, onChange }: ValueSwitchProps) => (
  <p class="values">
    <button type="button" class="with-icon" aria-pressed={isOn} onClick={() => onChange(!isOn)}>
      <Icon name={isOn ? 'hidden' : 'eye'} />
      {isOn ? 'Hide values' : 'Show values'}
    </button>
  </p>
);
