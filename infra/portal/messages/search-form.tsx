/** The search: one field that recognises what it gets, and filters. */
import { useEffect, useState } from 'preact/hooks';
import { Icon } from '../../web/icons.tsx';
import { whenOf } from '../../web/text.tsx';
import { phoneIn } from '../phone-numbers.ts';
import { go } from '../router.ts';
import type { Session } from '../session.ts';
import { Failure } from '../shell/failure.tsx';
import { TextField } from '../shell/page.tsx';
import { fromLocal, toLocal } from '../times.ts';
import { useAction, useCall } from '../use-call.ts';
import { messages } from '../words/messages.ts';
import { stepLabel } from '../words/outcomes.ts';
import { order } from './log.ts';
import { personOf } from './parts.tsx';
import { type FilterName, type Filters, filterNames, find, isId, isNational, listLink } from './search.ts';

const words = messages.search;

interface SearchFormProps {
  filters: Filters;
  session: Session;
}

export const SearchForm = ({ filters, session }: SearchFormProps) => {
  const [text, setText] = useState('');
  const [national, setNational] = useState(false);
  const search = useAction(async (given: string) => {
    const address = await find(given, filters, session);
    setText('');
    go(address);
  });
  return (
    <search class="search">
      <form
        class="search-line"
        onSubmit={(event) => {
          event.preventDefault();
          setNational(isNational(text.trim()));
          if (text.trim() !== '' && !isNational(text.trim())) search.run(text);
        }}
      >
        <span class="search-field">
          <Icon name="search" />
          <input
            type="search"
            aria-label={words.label}
            aria-describedby="search-hint"
            aria-invalid={national}
            placeholder={words.placeholder}
            autocomplete="off"
            spellcheck={false}
            maxLength={100}
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        </span>
        <button type="submit" disabled={search.busy}>
          {words.submit}
        </button>
        <select
          aria-label={words.state}
          value={filters.state ?? ''}
          onChange={({ currentTarget }) => go(listLink({ ...filters, state: currentTarget.value }))}
        >
          <option value="">{words.anyState}</option>
          {order.map((state) => (
            <option key={state} value={state}>
              {stepLabel(state)}
            </option>
          ))}
        </select>
      </form>
      <p class="quiet" id="search-hint">
        {session.may('readMessage') ? words.hint : words.hintWithoutMessages}
      </p>
      {national && (
        <p class="problem" role="alert">
          {words.national}
        </p>
      )}
      <Failure error={search.error} />
      <MoreFilters filters={filters} />
      <ActiveFilters filters={filters} session={session} />
    </search>
  );
};

/** The filters as people enter them. */
const draftOf = ({ contact = '', reference = '', job_id = '', start, end }: Filters) => ({
  contact: contact && personOf(contact),
  reference,
  job_id,
  start: toLocal(start),
  end: toLocal(end),
});

type Draft = ReturnType<typeof draftOf>;

const MoreFilters = ({ filters }: { filters: Filters }) => {
  const [draft, setDraft] = useState(draftOf(filters));
  const [isChecked, setChecked] = useState(false);
  useEffect(() => {
    setDraft(draftOf(filters));
    setChecked(false);
  }, [listLink(filters)]);
  const before = draftOf(filters);
  const { contact, reference, job_id, start, end } = draft;
  const errors = {
    contact:
      contact !== before.contact && contact.trim() !== '' && phoneIn(contact.trim()) === undefined
        ? words.numberError
        : undefined,
    job_id: job_id.trim() !== '' && !isId(job_id.trim()) ? words.jobError : undefined,
    end: start !== '' && end !== '' && end <= start ? words.order : undefined,
  };
  const submit = (event: Event) => {
    event.preventDefault();
    setChecked(true);
    if (Object.values(errors).some((error) => error !== undefined)) return;
    go(
      listLink({
        ...filters,
        reference: reference.trim(),
        job_id: job_id.trim(),
        // What was not changed stays as it was: the fields show less of it.
        ...(contact !== before.contact && { contact: phoneIn(contact.trim()) ?? '' }),
        ...(start !== before.start && { start: fromLocal(start) ?? '' }),
        ...(end !== before.end && { end: fromLocal(end) ?? '' }),
      }),
    );
  };
  const field = (name: keyof Draft) => ({
    autocomplete: 'off',
    value: draft[name],
    onValue: (value: string) => setDraft({ ...draft, [name]: value }),
  });
  const shown: Partial<typeof errors> = isChecked ? errors : {};
  return (
    <details>
      <summary>{words.more}</summary>
      <form class="message-filters" onSubmit={submit} noValidate>
        <TextField
          label={words.number}
          hint={words.numberHint}
          error={shown.contact}
          inputMode="tel"
          {...field('contact')}
        />
        <TextField label={words.reference} maxLength={64} {...field('reference')} />
        <TextField label={words.job} error={shown.job_id} spellcheck={false} {...field('job_id')} />
        <TextField label={words.from} hint={words.timeHint} type="datetime-local" {...field('start')} />
        <TextField label={words.to} error={shown.end} type="datetime-local" {...field('end')} />
        <button type="submit">{words.apply}</button>
      </form>
    </details>
  );
};

/** A filter's value for people. */
const shownAs: Record<FilterName, (value: string) => string> = {
  contact: personOf,
  state: stepLabel,
  job_id: (id) => id.slice(0, 8),
  reference: (text) => text,
  start: (time) => timeOf(time),
  end: (time) => timeOf(time),
};

const timeOf = (time: string): string => (Number.isNaN(Date.parse(time)) ? time : whenOf(time));

const ActiveFilters = ({ filters, session }: SearchFormProps) => {
  const { job_id = '' } = filters;
  const campaign = useCall('readJob', isId(job_id) && session.may('readJob') ? { path: { job_id } } : undefined);
  const active = filterNames.flatMap((name) => {
    const value = filters[name];
    if (value === undefined) return [];
    const shown = (name === 'job_id' && campaign.data?.reference) || shownAs[name](value);
    return [{ name, label: words.filter[name](shown) }];
  });
  if (active.length === 0) return null;
  return (
    <ul class="active-filters" aria-label={words.active}>
      {active.map(({ name, label }) => (
        <li key={name}>
          <span>{label}</span>
          <a class="icon-button" href={listLink({ ...filters, [name]: '' })} title={words.remove(label)}>
            <Icon name="close" />
            <span class="unseen">{words.remove(label)}</span>
          </a>
        </li>
      ))}
      {active.length > 1 && (
        <li class="clear">
          <a href={listLink({})}>{words.clear}</a>
        </li>
      )}
    </ul>
  );
};
