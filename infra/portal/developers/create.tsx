/** Creating a token: it may do at most what the token of the session may. */
import { useState } from 'preact/hooks';
import type { Permission } from '../../../shared/core/permissions.ts';
import { present } from '../../web/clock.ts';
import { call } from '../client.ts';
import { go, linkTo } from '../router.ts';
import type { Session } from '../session.ts';
import { Failure } from '../shell/failure.tsx';
import { ButtonLink, Page, Section, Select, TextField } from '../shell/page.tsx';
import { useAction } from '../use-call.ts';
import { permissionWords, developers as texts } from '../words/developers.ts';
import { shell } from '../words/shell.ts';
import { IssuedToken } from './tokens.tsx';

const words = texts.create;
const DAY_MS = 86_400_000;
const PERIODS = [30, 90, 365] as const;

type Given = Exclude<Permission, 'app'>;

export const CreateToken = ({ session }: { session: Session }) => {
  // The service rejects the others: a token gives no more than it has, and never `admin`.
  const own = session.info.permissions.filter((one): one is Given => one !== 'admin' && one in permissionWords);
  const [label, setLabel] = useState('');
  const [permissions, setPermissions] = useState<Given[]>([]);
  const [period, setPeriod] = useState('90');
  const [day, setDay] = useState('');
  const [tried, setTried] = useState(false);
  const [issued, setIssued] = useState<string>();
  // The end of the day in the zone of the reader.
  const dayEnd = new Date(`${day}T23:59:59`).getTime();
  const expires = period === 'never' ? undefined : period === 'date' ? dayEnd : present() + Number(period) * DAY_MS;
  const errors = {
    label: label.trim() === '',
    permissions: permissions.length === 0,
    day: period === 'date' && !(dayEnd > present()),
  };
  const create = useAction(async () => {
    const { body } = await call('createToken', {
      body: {
        label: label.trim(),
        permissions,
        ...(expires !== undefined && { expires: new Date(expires).toISOString() }),
      },
    });
    setIssued(body.token);
  });
  const submit = (event: Event) => {
    event.preventDefault();
    setTried(true);
    if (!Object.values(errors).some(Boolean)) create.run();
  };
  return (
    <Page title={words.title} back={{ href: linkTo('developers'), label: texts.tabs.tokens }}>
      <Section title={words.about}>
        <form class="form" noValidate onSubmit={submit}>
          <TextField
            label={words.label}
            hint={words.labelHint}
            error={tried && errors.label ? words.labelMissing : undefined}
            maxLength={100}
            autocomplete="off"
            value={label}
            onValue={setLabel}
          />
          <fieldset class="field">
            <legend>{words.permissions}</legend>
            <span class="quiet">{words.permissionsHint}</span>
            {own.map((one) => (
              <label key={one} class="choice">
                <input
                  type="checkbox"
                  checked={permissions.includes(one)}
                  onChange={({ currentTarget }) =>
                    setPermissions(
                      currentTarget.checked ? [...permissions, one] : permissions.filter((other) => other !== one),
                    )
                  }
                />
                <span>
                  {permissionWords[one]} <code class="quiet">{one}</code>
                </span>
              </label>
            ))}
            {tried && errors.permissions && (
              <span class="problem" role="alert">
                {words.permissionsMissing}
              </span>
            )}
          </fieldset>
          <Select label={words.expires} value={period} onValue={setPeriod}>
            {PERIODS.map((days) => (
              <option key={days} value={days}>
                {words.days(days)}
              </option>
            ))}
            <option value="date">{words.date}</option>
            <option value="never">{words.never}</option>
          </Select>
          {period === 'date' && (
            <TextField
              label={words.dateLabel}
              error={tried && errors.day ? words.dateMissing : undefined}
              type="date"
              value={day}
              onValue={setDay}
            />
          )}
          <Failure error={create.error} />
          <div class="buttons">
            <button type="submit" class="primary" disabled={create.busy}>
              {create.busy ? words.working : words.submit}
            </button>
            <ButtonLink href={linkTo('developers')}>{shell.cancel}</ButtonLink>
          </div>
        </form>
      </Section>
      {issued !== undefined && (
        <IssuedToken token={issued} onClose={() => go(linkTo('developers'), { replace: true })} />
      )}
    </Page>
  );
};
