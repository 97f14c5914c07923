/** The dock: a business sends messages of each type, and a user data request, to the open phone. */
import { useRef, useState } from 'preact/hooks';
import { Icon, type IconName } from '../../../../web/icons.tsx';
import { endOf, spacedNumber } from '../../../../web/text.tsx';
import { useToast } from '../../../../web/toast.tsx';
import type { Bot, PhoneSummary } from '../../views.ts';
import { describeError, submit } from '../data/api.ts';
import { IconFace, Menu } from '../shell/menu.tsx';

const presets: { act: string; label: string; icon: IconName }[] = [
  { act: 'greeting', label: 'Question', icon: 'chat' },
  { act: 'picture', label: 'Picture', icon: 'picture' },
  { act: 'file', label: 'File', icon: 'file' },
  { act: 'consent', label: 'Consent request', icon: 'shield' },
];

/** Whether the API takes the days; empty: without an end. */
const isValid = (days: string): boolean =>
  days === '' || (/^\d+$/.test(days) && Number(days) >= 1 && Number(days) <= 365);

interface DockProps {
  bots: Bot[];
  /** The id of the account that sends. */
  business: string;
  onBusiness: (id: string) => void;
  phone: string;
  users: PhoneSummary[];
  onUser: (phone: string) => void;
  online: boolean;
  onWrite: () => void;
}

export const Dock = ({ bots, business, onBusiness, phone, users, onUser, online, onWrite }: DockProps) => {
  /** For how many days the consent is valid that is requested; empty: without an end. */
  const [days, setDays] = useState('');
  const [busy, setBusy] = useState(false);
  const sending = useRef(false);
  const toast = useToast();
  const act = async (name: string) => {
    if (sending.current) return;
    if (name === 'consent' && !isValid(days)) return toast('The consent must be valid for 1 to 365 days.', 'bad');
    sending.current = true;
    setBusy(true);
    const options = name === 'consent' && days !== '' && { valid_days: Number(days) };
    await submit('POST', `/businesses/${business}/acts/${name}`, { phone, ...options }).catch((error) =>
      toast(describeError(error), 'bad'),
    );
    sending.current = false;
    setBusy(false);
  };
  return (
    <fieldset class="dock" aria-label="Send as a business">
      <label>
        <span class="dock-word">Send as</span>
        <select value={business} title="Business" onChange={({ currentTarget }) => onBusiness(currentTarget.value)}>
          {bots.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span class="dock-word">to</span>
        <select value={phone} title="User" onChange={({ currentTarget }) => onUser(currentTarget.value)}>
          {users.map((user) => (
            <option key={user.phone} value={user.phone} title={spacedNumber(user.phone)}>
              {user.name ?? endOf(user.phone)}
            </option>
          ))}
        </select>
      </label>
      <span class="dock-line" />
      {presets.map(({ act: name, label, icon }) => (
        <button
          type="button"
          key={name}
          class="with-icon"
          title={label}
          disabled={busy || !online}
          onClick={() => void act(name)}
        >
          <Icon name={icon} />
          <span class="dock-label">{label}</span>
        </button>
      ))}
      <Menu
        label="Validity of the consent"
        look="icon-button"
        face={<IconFace icon="chevron" label="Validity of the consent" />}
      >
        {() => (
          <label class="valid-days">
            Valid days
            <input
              type="number"
              min={1}
              max={365}
              placeholder="No end"
              value={days}
              onInput={({ currentTarget }) => setDays(currentTarget.value)}
            />
          </label>
        )}
      </Menu>
      <span class="spacer" />
      <button type="button" class="primary with-icon" title="Write a message" onClick={onWrite}>
        <Icon name="pen" />
        <span class="dock-label">Write a message</span>
      </button>
    </fieldset>
  );
};
