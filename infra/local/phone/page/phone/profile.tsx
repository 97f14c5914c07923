/** The profile that the app reports to the service: properties, panelist or not, and the removal of the user. */
import { useState } from 'preact/hooks';
import { plain } from '../../../../web/text.tsx';
import type { PropertyDescription, Setup, UserView } from '../../views.ts';
import { describeError, submit } from '../data/api.ts';

interface ProfileProps {
  phone: string;
  user: UserView | null;
  setup: Setup;
  /** Whether the page reports automatically that messages were read. */
  reporting: boolean;
  onReporting: (on: boolean) => void;
  online: boolean;
}

export const Profile = ({ phone, user, setup, reporting, onReporting, online }: ProfileProps) => {
  const [edited, setEdited] = useState<Record<string, string>>({});
  const [panelist, setPanelist] = useState<boolean>();
  const [result, setResult] = useState('');
  const [removing, setRemoving] = useState(false);
  const [busy, setBusy] = useState(false);
  const path = `/phones/${phone}/user`;
  const shownValue = (name: string) => edited[name] ?? user?.properties[name]?.value ?? '';

  const finish = async (done: Promise<void>, success: string) => {
    setBusy(true);
    await done.then(
      () => {
        setEdited({});
        setPanelist(undefined);
        setResult(success);
      },
      (error) => setResult(`Not saved: ${describeError(error)}`),
    );
    setBusy(false);
  };
  const save = () => {
    const properties = setup.properties.flatMap((property) => {
      const value = edited[property.name];
      return value === undefined ? [] : [[property.name, reportedProperty(property, value.trim())]];
    });
    void finish(
      submit('POST', path, {
        panelist: panelist ?? user?.panelist ?? false,
        properties: Object.fromEntries(properties),
      }),
      'Saved.',
    );
  };
  const remove = () => {
    setRemoving(false);
    void finish(submit('DELETE', path), 'Removed: the service deletes the data of this user.');
  };

  return (
    <form
      class="profile"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <p class="registered">
        <span class={`chip ${user ? 'ok' : 'warn'}`}>{user ? 'Registered' : 'Not registered'}</span>
        <span class="quiet">
          {user
            ? 'The app has reported this profile to the service.'
            : 'The service does not know this user. Save to register one.'}
        </span>
      </p>
      <label class="switch">
        <input type="checkbox" checked={reporting} onChange={() => onReporting(!reporting)} />
        <span>Report reading</span>
      </label>
      <label class="switch">
        <input
          type="checkbox"
          checked={panelist ?? user?.panelist ?? false}
          onChange={({ currentTarget }) => setPanelist(currentTarget.checked)}
        />
        <span>Panelist: answers research profilers</span>
      </label>
      <div class="properties">
        {setup.properties.map((property) => (
          <label key={property.name}>
            <span class="line">
              <strong>{plain(property.name)}</strong>
              <span class="quiet">{property.automatic ? 'granted automatically' : 'needs approval'}</span>
            </span>
            <span class="quiet">{property.description}</span>
            <input
              value={shownValue(property.name)}
              maxLength={1000}
              onInput={({ currentTarget: { value } }) => setEdited((before) => ({ ...before, [property.name]: value }))}
            />
          </label>
        ))}
      </div>
      <div class="row">
        <button type="submit" class="primary" disabled={busy || !online}>
          Save
        </button>
        {user && !removing && (
          <button type="button" onClick={() => setRemoving(true)}>
            Remove the user …
          </button>
        )}
      </div>
      {removing && (
        <div class="warning" role="alert">
          <p>This deletes the user's profile, answers and data requests.</p>
          <div class="row">
            <button type="button" class="danger" disabled={busy || !online} onClick={remove}>
              Remove
            </button>
            <button type="button" onClick={() => setRemoving(false)}>
              Keep
            </button>
          </div>
        </div>
      )}
      <p role="status">{result}</p>
    </form>
  );
};

/** A property as the app reports it: `{ value: null }` removes it. */
const reportedProperty = ({ automatic }: PropertyDescription, value: string) =>
  value === '' ? { value: null } : { value, source: automatic ? 'device' : 'user' };
