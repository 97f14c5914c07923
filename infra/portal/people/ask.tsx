/** The form with which a person is asked, and what the person sees of it. */
import { useState } from 'preact/hooks';
import { catalogue } from '../../../shared/users/profile-properties.ts';
import { present } from '../../web/clock.ts';
import { dateOf } from '../../web/text.tsx';
import { useToast } from '../../web/toast.tsx';
import { call } from '../client.ts';
import { phoneIn } from '../phone-numbers.ts';
import { go, linkTo } from '../router.ts';
import type { Session } from '../session.ts';
import { Failure } from '../shell/failure.tsx';
import { ButtonLink, Page, Section, TextArea, TextField } from '../shell/page.tsx';
import { useAction, useCall, useIntention } from '../use-call.ts';
import { people } from '../words/people.ts';
import { shell } from '../words/shell.ts';
import { Preview } from './preview.tsx';

const words = people.form;

const MAX_REASON = 1_000;
const MAX_REFERENCE = 64;
const MAX_DAYS = 365;

/** A property that is asked for. */
export interface Asked {
  property: string;
  reason: string;
  required: boolean;
}

/** As the service counts: an emoji is one character. */
const lengthOf = (text: string): number => [...text].length;

const isAutomatic = (property: string): boolean => catalogue[property]?.automatic === true;

const [atOnce, decided] = [
  Object.keys(catalogue).filter(isAutomatic),
  Object.keys(catalogue).filter((one) => !isAutomatic(one)),
];

const DAY_MS = 86_400_000;

export const Ask = ({ session }: { session: Session }) => {
  const [number, setNumber] = useState('');
  const [reason, setReason] = useState('');
  const [asked, setAsked] = useState<Asked[]>([]);
  const [isLimited, setLimited] = useState(false);
  const [days, setDays] = useState('90');
  const [reference, setReference] = useState('');
  const [isChecked, setChecked] = useState(false);
  const account = useCall('readConfiguration', session.may('readConfiguration') ? {} : undefined);
  const toast = useToast();

  const phone = phoneIn(number);
  const isDays = /^\d{1,3}$/.test(days) && Number(days) >= 1 && Number(days) <= MAX_DAYS;
  const problems = {
    number: number.trim() === '' ? words.noNumber : phone === undefined ? words.badNumber : undefined,
    reason:
      reason.trim() === ''
        ? words.noReason
        : lengthOf(reason) > MAX_REASON
          ? words.tooLong(lengthOf(reason) - MAX_REASON)
          : undefined,
    asked: asked.length === 0 ? words.noneChosen : undefined,
    days: isLimited && !isDays ? words.badDays : undefined,
    reference: lengthOf(reference) > MAX_REFERENCE ? words.tooLong(lengthOf(reference) - MAX_REFERENCE) : undefined,
  };
  const shown: Partial<typeof problems> = isChecked ? problems : {};
  const needsNobody = asked.length > 0 && asked.every(({ property }) => isAutomatic(property));
  const body = {
    reason,
    data: asked.map(({ property, reason: why, required }) =>
      isAutomatic(property) ? { property } : { property, required, ...(why.trim() !== '' && { reason: why.trim() }) },
    ),
    ...(isLimited && isDays && { valid_days: Number(days) }),
    ...(reference.trim() !== '' && { reference: reference.trim() }),
  };
  const newKey = useIntention(JSON.stringify([phone, body]));
  const { run, busy, error } = useAction(async (phone_number: string) => {
    const { body: started } = await call('startUserDataRequest', {
      path: { phone_number },
      body,
      idempotencyKey: newKey(),
    });
    toast(started.status === 'pending' ? words.asked : words.granted);
    const now = new Date(present()).toISOString().slice(0, 19);
    go(linkTo('people', started.requestId, { asked: now }), { replace: true });
  });
  const submit = (event: Event) => {
    event.preventDefault();
    setChecked(true);
    if (phone !== undefined && Object.values(problems).every((problem) => problem === undefined)) run(phone);
  };
  /** In the order of the catalogue. */
  const toggle = (property: string) => {
    const chosen = asked.some((one) => one.property === property)
      ? asked.filter((one) => one.property !== property)
      : [...asked, { property, reason: '', required: false }];
    setAsked([...decided, ...atOnce].flatMap((name) => chosen.filter((one) => one.property === name)));
  };
  const change = (changed: Asked) => setAsked(asked.map((one) => (one.property === changed.property ? changed : one)));

  return (
    <Page title={words.title} intro={words.intro} back={{ href: linkTo('people'), label: people.back }}>
      <form class="beside ask" onSubmit={submit} noValidate>
        <div class="parts">
          <Section title={words.who}>
            <div class="form">
              <TextField
                label={words.number}
                hint={words.numberHint}
                error={shown.number}
                type="tel"
                autocomplete="off"
                value={number}
                onValue={setNumber}
              />
              <TextArea
                label={words.reason}
                hint={words.reasonHint(Math.max(MAX_REASON - lengthOf(reason), 0))}
                error={shown.reason}
                rows={3}
                dir="auto"
                value={reason}
                onValue={setReason}
              />
            </div>
          </Section>
          <Section title={words.what}>
            <div class="form">
              <fieldset class="field">
                <legend>{words.decides}</legend>
                {decided.map((property) => (
                  <Property
                    key={property}
                    property={property}
                    asked={asked.find((one) => one.property === property)}
                    isInvalid={shown.asked !== undefined}
                    onToggle={() => toggle(property)}
                    onChange={change}
                  />
                ))}
              </fieldset>
              <fieldset class="field">
                <legend>{words.atOnce}</legend>
                {atOnce.map((property) => (
                  <Property
                    key={property}
                    property={property}
                    asked={asked.find((one) => one.property === property)}
                    isInvalid={false}
                    onToggle={() => toggle(property)}
                  />
                ))}
              </fieldset>
              {shown.asked && (
                <p class="problem" role="alert">
                  {shown.asked}
                </p>
              )}
            </div>
          </Section>
          <Section title={words.validity}>
            <div class="form">
              <fieldset class="field">
                <legend class="unseen">{words.validity}</legend>
                <label class="choice">
                  <input type="radio" name="validity" checked={!isLimited} onChange={() => setLimited(false)} />
                  {words.endless}
                </label>
                <label class="choice">
                  <input type="radio" name="validity" checked={isLimited} onChange={() => setLimited(true)} />
                  {words.limited}
                </label>
              </fieldset>
              {isLimited && (
                <div class="days">
                  <TextField
                    label={words.days}
                    hint={isDays && words.daysHint(dateOf(new Date(present() + Number(days) * DAY_MS).toISOString()))}
                    error={shown.days}
                    inputMode="numeric"
                    value={days}
                    onValue={setDays}
                  />
                </div>
              )}
              <TextField
                label={words.reference}
                hint={words.referenceHint}
                error={shown.reference}
                autocomplete="off"
                value={reference}
                onValue={setReference}
              />
            </div>
          </Section>
        </div>
        <Preview
          business={account.data?.configuration.name}
          reason={reason}
          asked={asked.filter(({ property }) => !isAutomatic(property))}
          needsNobody={needsNobody}
          days={isLimited && isDays ? Number(days) : undefined}
        />
        <div class="parts">
          <Failure error={error} />
          <div class="buttons">
            <button type="submit" class="primary" disabled={busy}>
              {busy ? words.working : needsNobody ? words.submitAtOnce : words.submit}
            </button>
            <ButtonLink href={linkTo('people')}>{shell.cancel}</ButtonLink>
          </div>
        </div>
      </form>
    </Page>
  );
};

interface PropertyProps {
  property: string;
  /** If it is chosen. */
  asked: Asked | undefined;
  isInvalid: boolean;
  onToggle: () => void;
  /** Missing for a property that needs no approval: the person sees neither a reason nor whether it is required. */
  onChange?: (asked: Asked) => void;
}

const Property = ({ property, asked, isInvalid, onToggle, onChange }: PropertyProps) => {
  const name = people.nameOf(property);
  return (
    <div class="property">
      <label class="choice">
        <input type="checkbox" aria-invalid={isInvalid} checked={asked !== undefined} onChange={onToggle} />
        <span>
          {name}
          <span class="quiet"> {people.descriptionOf(property)}</span>
        </span>
      </label>
      {asked && onChange && (
        <div class="property-details">
          <TextField
            label={words.why(name)}
            maxLength={MAX_REASON}
            dir="auto"
            value={asked.reason}
            onValue={(value) => onChange({ ...asked, reason: value })}
          />
          <label class="choice">
            <input
              type="checkbox"
              checked={asked.required}
              onChange={() => onChange({ ...asked, required: !asked.required })}
            />
            <span>
              {words.require}
              <span class="quiet"> {words.requireHint}</span>
            </span>
          </label>
        </div>
      )}
    </div>
  );
};
