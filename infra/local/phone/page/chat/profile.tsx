/** What the app tells the service of its user: the profile's properties, panelist or not, and that the user is gone. */
import { useState } from 'preact/hooks';
import type { PropertyDescription, Setup, UserView } from '../../views.ts';
import { sayWhy, tell } from '../data/api.ts';
import { plain } from '../text.tsx';

interface ProfileProps {
  phone: string;
  user: UserView | null;
  setup: Setup;
}

export const Profile = ({ phone, user, setup }: ProfileProps) => {
  const [edited, setEdited] = useState<Record<string, string>>({});
  const [panelist, setPanelist] = useState<boolean>();
  const [said, setSaid] = useState('');
  const [removing, setRemoving] = useState(false);
  const path = `/phones/${phone}/user`;
  const shownValue = (name: string) => edited[name] ?? user?.properties[name]?.value ?? '';

  const finish = (done: Promise<void>, says: string) =>
    done.then(
      () => {
        setEdited({});
        setPanelist(undefined);
        setSaid(says);
      },
      (error) => setSaid(`Not saved: ${sayWhy(error)}`),
    );
  const save = () => {
    const properties = setup.properties.flatMap((property) => {
      const value = edited[property.name];
      return value === undefined ? [] : [[property.name, told(property, value.trim())]];
    });
    void finish(
      tell('POST', path, { panelist: panelist ?? user?.panelist ?? false, properties: Object.fromEntries(properties) }),
      'Saved: the service knows it.',
    );
  };
  const remove = () => {
    setRemoving(false);
    void finish(tell('DELETE', path), 'Removed: the service forgets this user.');
  };

  return (
    <form
      class="profile"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <h3>Profile</h3>
      <p class="quiet">
        {user
          ? 'What the app has told the service of this user.'
          : 'The service knows no user of this number yet: save to register.'}
      </p>
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
              <span class="quiet">{property.automatic ? 'granted automatically' : 'asked for'}</span>
            </span>
            <span class="quiet">{property.says}</span>
            <input
              value={shownValue(property.name)}
              maxLength={1000}
              onInput={({ currentTarget: { value } }) => setEdited((before) => ({ ...before, [property.name]: value }))}
            />
          </label>
        ))}
      </div>
      <div class="row">
        <button type="submit" class="primary">
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
          <p>The service forgets this user: the profile, answers, and what was asked.</p>
          <div class="row">
            <button type="button" class="danger" onClick={remove}>
              Remove
            </button>
            <button type="button" onClick={() => setRemoving(false)}>
              Keep
            </button>
          </div>
        </div>
      )}
      <p role="status">{said}</p>
    </form>
  );
};

/** A property as the app tells it: nothing any more, where there is no value. */
const told = ({ automatic }: PropertyDescription, value: string) =>
  value === '' ? { value: null } : { value, source: automatic ? 'device' : 'user' };
