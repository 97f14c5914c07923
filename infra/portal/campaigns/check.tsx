/** The last step: the name, a test to one phone, what will happen, and the button that sends. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { present } from '../../web/clock.ts';
import { Icon, type IconName } from '../../web/icons.tsx';
import { Notice } from '../../web/parts.tsx';
import { spacedNumber, Time } from '../../web/text.tsx';
import { useToast } from '../../web/toast.tsx';
import { ApiError, type BodyFrom, call } from '../client.ts';
import { parseNumber } from '../phone-numbers.ts';
import type { Session } from '../session.ts';
import { Failure } from '../shell/failure.tsx';
import { focusInvalid } from '../shell/focus.ts';
import { Section, TextField } from '../shell/page.tsx';
import { useAction, useCall, useIntention } from '../use-call.ts';
import { campaigns } from '../words/campaigns.ts';
import { explainReason } from '../words/outcomes.ts';
import type { Draft } from './draft.ts';
import { change } from './memory.ts';
import { contentFor, type DraftFaults, findFaults, hasFaults, portionsOf, timingOf, type Written } from './message.ts';
import type { Person } from './people.ts';
import { send } from './sending.ts';
import type { StepProps } from './step.ts';

const words = campaigns.check;

type Forecast = Extract<NonNullable<BodyFrom<'sendMessage'>>, { plan: string }>;

/** A forecast, and the parts of the draft of which it is. */
export interface Checked {
  key: unknown[];
  forecast: Forecast;
}

interface CheckProps extends StepProps {
  session: Session;
  /** Whom the preview shows. */
  person: Person | undefined;
  onTry: () => void;
  checked: Checked | undefined;
  onChecked: (checked: Checked) => void;
  /** Why the last attempt to send was rejected. */
  rejection: unknown;
}

export const Check = ({ draft, people, written, faults, tried, session, person, ...props }: CheckProps) => {
  const { onTry, checked, onChecked, rejection } = props;
  const toast = useToast();
  const { people: all } = people;
  // A forecast is of one draft, whose parts are replaced when they change. The name is not part of it.
  const key = [
    draft.from,
    draft.country,
    draft.text,
    draft.replies,
    draft.attachment,
    JSON.stringify(timingOf(draft)),
    all,
  ];
  const isSame = checked?.key.every((part, index) => part === key[index]) ?? false;
  const check = useAction(async () => {
    const { phones, first } = { phones: all.map(({ phone }) => phone), first: all[0]?.values ?? [] };
    const body = { to: phones, ...contentFor(draft, written, first), ...timingOf(draft), dry_run: true };
    const reply = await call('sendMessage', { body });
    if ('plan' in reply.body) onChecked({ key, forecast: reply.body });
  });
  const start = useAction(async () => {
    const [job, name, count] = [crypto.randomUUID(), draft.name.trim(), all.length];
    const portions = portionsOf(draft, written, all);
    const isSent = await send({ job, name, portions, accepted: 0, busy: true, error: undefined });
    if (isSent) toast(draft.isLater ? words.scheduled(count) : words.sent(count));
  });
  const isComplete = !hasFaults(faults);
  const attempt = (then: () => void) => {
    onTry();
    // The start may have become too near since the form was drawn.
    if (!hasFaults(findFaults(draft, written, people, present()))) then();
    else focusInvalid(document);
  };
  const mayNotCheck = check.error instanceof ApiError && check.error.code === 'allowance_exceeded';
  const nameFault = faults.name === 'none' && !tried ? undefined : faults.name;
  const ready = isComplete && (isSame || mayNotCheck);
  return (
    <Section title={words.title}>
      <div class="parts">
        <TextField
          label={words.name}
          hint={words.nameHint}
          error={nameFault && { none: words.nameNone, long: words.nameLong }[nameFault]}
          autocomplete="off"
          value={draft.name}
          onValue={(value) => change({ name: value })}
        />
        <Test draft={draft} written={written} faults={faults} person={person} session={session} />
        {checked && isSame && <Result forecast={checked.forecast} draft={draft} session={session} />}
        {tried && !isComplete && <Missing faults={faults} />}
        {mayNotCheck ? (
          <Notice tone="warn">{words.noAllowance}</Notice>
        ) : (
          <Failure error={withPeople(check.error, all)} />
        )}
        <Failure error={withPeople(rejection ?? start.error, all)} title={words.rejected} />
        <div class="buttons">
          {ready ? (
            <button
              key="send"
              type="button"
              class="primary big"
              disabled={start.busy}
              onClick={() => attempt(start.run)}
            >
              <Icon name="send" />
              {draft.isLater ? words.schedule(all.length) : words.send(all.length)}
            </button>
          ) : (
            <button
              key="check"
              type="button"
              class="primary big"
              disabled={check.busy}
              onClick={() => attempt(check.run)}
            >
              {check.busy ? words.running : words.run}
            </button>
          )}
          {checked && !isSame && !check.busy && <span class="quiet">{words.changed}</span>}
        </div>
      </div>
    </Section>
  );
};

/** An error of the API whose places in lists are people: `#/to/3` and `#/3/text/body` become numbers. */
const withPeople = (error: unknown, people: Person[]): unknown => {
  if (!(error instanceof ApiError)) return error;
  const errors = error.errors.map(({ pointer, ...rest }) => {
    const place = /^#\/(?:to\/)?(\d+)(?:\/|$)/.exec(pointer ?? '')?.[1];
    const person = place === undefined ? undefined : people[Number(place)];
    return person
      ? { ...rest, pointer: words.personAt(spacedNumber(person.phone), person.line) }
      : { ...rest, ...(pointer !== undefined && { pointer }) };
  });
  return new ApiError(error.status, { code: error.code, detail: error.message, errors, trace_id: error.trace });
};

const Missing = ({ faults }: { faults: DraftFaults }) => {
  const parts = [
    { is: faults.who, title: campaigns.who.title },
    {
      is:
        faults.text ??
        (faults.people.tooLong.length > 0 || faults.people.blank.length > 0 || faults.replies.some(Boolean)),
      title: campaigns.what.title,
    },
    { is: faults.when ?? faults.hours, title: campaigns.when.title },
    { is: faults.name, title: words.name },
  ];
  return (
    <Notice tone="bad" title={words.missing}>
      <ul class="failure-list">{parts.map(({ is, title }) => is && <li key={title}>{title}</li>)}</ul>
    </Notice>
  );
};

/** Whether an allowance of the day is nearly used up: before, it concerns nobody. */
const isScarce = ({ used, limit }: { used: number; limit: number }): boolean => used > limit * 0.8;

const Result = ({ forecast, draft, session }: { forecast: Forecast; draft: Draft; session: Session }) => {
  const { valid, not_registered, stopped, outside_hours, outside_hours_until, estimated_end } = forecast;
  const account = useCall('readConfiguration', session.may('readConfiguration') ? {} : undefined);
  const contacts = account.data?.configuration.allowances.contacts;
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  const lines: { icon: IconName; tone: string; text: ComponentChildren }[] = [
    ...(valid > 0 ? [{ icon: 'check' as const, tone: 'ok', text: words.valid(valid) }] : []),
    ...(not_registered > 0 ? [{ icon: 'alert' as const, tone: 'warn', text: words.unregistered(not_registered) }] : []),
    ...(stopped > 0 ? [{ icon: 'block' as const, tone: 'bad', text: words.stopped(stopped) }] : []),
    ...(outside_hours > 0 && outside_hours_until
      ? [
          {
            icon: 'moon' as const,
            tone: '',
            text: (
              <>
                {words.outside(outside_hours)} <Time at={outside_hours_until} as="when" />.
              </>
            ),
          },
        ]
      : []),
    {
      icon: 'clock',
      tone: '',
      text: (
        <>
          {draft.isLater ? (
            <>
              {words.starts} <Time at={new Date(draft.at).toISOString()} as="when" />.
            </>
          ) : (
            words.startsNow
          )}{' '}
          {words.ends} <Time at={estimated_end} as="when" />.
        </>
      ),
    },
  ];
  return (
    <section class="forecast" aria-labelledby="forecast-title">
      <h3 id="forecast-title" ref={heading} tabIndex={-1}>
        {words.result}
      </h3>
      <ul>
        {lines.map(({ icon, tone, text }, index) => (
          <li key={index} class={tone}>
            <Icon name={icon} />
            <span>{text}</span>
          </li>
        ))}
      </ul>
      {contacts && isScarce(contacts) && (
        <p class="quiet">{words.left(Math.max(contacts.limit - contacts.used, 0), contacts.limit)}</p>
      )}
    </section>
  );
};

interface TestProps {
  draft: Draft;
  written: Written;
  faults: DraftFaults;
  person: Person | undefined;
  session: Session;
}

/** Sends the message of the preview to one phone, and shows what becomes of it. */
const Test = ({ draft, written, faults, person, session }: TestProps) => {
  const [to, setTo] = useState('');
  const [tried, setTried] = useState(false);
  const [sent, setSent] = useState<{ id: string; to: string }>();
  const parsed = parseNumber(to, draft.country);
  const content = contentFor(draft, written, person?.values ?? []);
  // A test after one that was sent is another one, also if it is the same.
  const newKey = useIntention(JSON.stringify([sent?.id, parsed, content]));
  const test = useAction(async () => {
    if ('fault' in parsed) return;
    const body = { to: parsed.phone, ...content, urgent: true };
    const reply = await call('sendMessage', { body, idempotencyKey: newKey() });
    if ('id' in reply.body) setSent({ id: reply.body.id, to: spacedNumber(parsed.phone) });
  });
  // Without a message, there is nothing to test.
  const canSend = faults.text === undefined && faults.replies.every((fault) => fault === undefined);
  const submit = (event: Event) => {
    event.preventDefault();
    setTried(true);
    if ('phone' in parsed && canSend) test.run();
  };
  return (
    <form class="test-send" aria-labelledby="test-title" onSubmit={submit} noValidate>
      <h3 id="test-title">{words.test}</h3>
      <TextField
        label={words.testTo}
        hint={words.testHint}
        error={tried && 'fault' in parsed ? words.testBad : tried && !canSend ? words.testMessage : undefined}
        type="tel"
        autocomplete="tel"
        value={to}
        onValue={setTo}
      />
      <button type="submit" disabled={test.busy}>
        <Icon name="phone" />
        {words.sendTest}
      </button>
      <div class="test-result" role="status">
        {sent && session.may('readMessage') && <TestState key={sent.id} {...sent} />}
      </div>
      <Failure error={test.error} />
    </form>
  );
};

const LAST_STATES = ['read', 'sending_failed', 'delivery_failed'];

const TestState = ({ id, to }: { id: string; to: string }) => {
  const [isOver, setOver] = useState(false);
  const { data } = useCall('readMessage', { path: { id } }, !isOver && 1_500);
  const states = new Map(data?.states.map(({ state, reason }) => [state, reason]));
  const over = LAST_STATES.some((state) => states.has(state));
  useEffect(() => setOver(over), [over]);
  const failed = ['sending_failed', 'delivery_failed'].find((state) => states.has(state));
  const say = words.testStates;
  if (failed !== undefined) {
    return <Notice tone="bad">{say.failed(to, explainReason(failed, states.get(failed)).cause)}</Notice>;
  }
  if (states.has('read')) return <Notice tone="ok">{say.read(to)}</Notice>;
  if (states.has('delivered_to_user')) return <Notice tone="ok">{say.delivered(to)}</Notice>;
  return <Notice tone="plain">{states.has('delivered_to_server') ? say.accepted(to) : say.waiting(to)}</Notice>;
};
