/** How many people gave certain answers: the survey and its options are in the address, by the places of the options. */
import { useState } from 'preact/hooks';
import { Icon } from '../../web/icons.tsx';
import { Empty } from '../../web/parts.tsx';
import { Time } from '../../web/text.tsx';
import { type BodyFrom, call } from '../client.ts';
import { go, linkTo } from '../router.ts';
import type { Session } from '../session.ts';
import { Failure } from '../shell/failure.tsx';
import { ButtonLink, List, Page, Section, Select } from '../shell/page.tsx';
import { useAction, useCall, usePages } from '../use-call.ts';
import { surveys } from '../words/surveys.ts';

const words = surveys.audience;

type Survey = BodyFrom<'listProfilers'>[number];
type Size = BodyFrom<'countAudience'>;

/** A survey, and the places of the options of which a person chose one. */
interface Condition {
  survey: string;
  places: number[];
}

/** As the service allows. */
const MAX_CONDITIONS = 5;

/** No place: a parameter without a value would be left out of the address. */
const NONE = '-';

/** `{ID: '0.2'}` are the first and the third option of a survey. */
const conditionsIn = (query: Record<string, string>): Condition[] =>
  Object.entries(query)
    .slice(0, MAX_CONDITIONS)
    .map(([survey, places]) => ({
      survey,
      places: places
        .split('.')
        .filter((place) => /^\d+$/.test(place))
        .map(Number),
    }));

const show = (conditions: Condition[]): void =>
  go(
    linkTo(
      'surveys',
      'audience',
      Object.fromEntries(conditions.map(({ survey, places }) => [survey, places.join('.') || NONE])),
    ),
    { replace: true },
  );

interface AudienceProps {
  query: Record<string, string>;
  session: Session;
}

export const Audience = ({ query, session }: AudienceProps) => {
  const pages = usePages('listProfilers', {});
  const account = useCall('readConfiguration', session.may('readConfiguration') ? {} : undefined);
  const [counted, setCounted] = useState<{ of: string; size: Size }>();
  const [isChecked, setChecked] = useState(false);
  const all = pages.items ?? [];
  const chosen = conditionsIn(query).filter(({ survey }) => all.some(({ id }) => id === survey));
  // One more place than there are surveys in the address: for the next one.
  const isOpen = chosen.length < Math.min(MAX_CONDITIONS, all.length);
  const conditions: Condition[] = chosen.filter(({ places }) => places.length > 0);
  const isComplete = conditions.length > 0 && conditions.length === chosen.length;
  const key = JSON.stringify(conditions);
  const { run, busy, error, forget } = useAction(async () => {
    const { body } = await call('countAudience', {
      body: {
        all: conditions.map((condition) => ({
          profiler_id: condition.survey,
          option_ids: chosenIn(all, condition).map(({ id }) => id),
        })),
      },
    }).finally(account.reload);
    setCounted({ of: key, size: body });
  });
  const change = (changed: Condition[]) => {
    forget();
    show(changed);
  };
  const submit = (event: Event) => {
    event.preventDefault();
    setChecked(true);
    if (isComplete) run();
  };
  const allowance = account.data?.configuration.allowances.audiences;
  const left = allowance && Math.max(allowance.limit - allowance.used, 0);
  const back = { href: linkTo('surveys'), label: surveys.back };
  if (pages.items === undefined || all.length === 0) {
    return (
      <Page title={words.title} intro={words.intro} back={back}>
        <List
          pages={pages}
          empty={
            <Empty icon="people">
              <p>{words.noSurveys}</p>
              <ButtonLink href={linkTo('surveys', 'new')} icon="plus" primary>
                {surveys.create}
              </ButtonLink>
            </Empty>
          }
        >
          {() => null}
        </List>
      </Page>
    );
  }
  return (
    <Page title={words.title} intro={words.intro} back={back}>
      <form class="beside audience" onSubmit={submit} noValidate>
        <div class="parts">
          {chosen.map((condition, place) => (
            <ConditionCard
              key={condition.survey}
              number={place + 1}
              all={all}
              condition={condition}
              taken={chosen.map(({ survey }) => survey)}
              onChange={(changed) => change(chosen.toSpliced(place, 1, changed))}
              onRemove={() => change(chosen.toSpliced(place, 1))}
            />
          ))}
          {isOpen && (
            <Section title={chosen.length === 0 ? words.firstSurvey : words.addSurvey}>
              <SurveyChoice
                all={all}
                taken={chosen.map(({ survey }) => survey)}
                onChange={(survey) => change([...chosen, { survey, places: [] }])}
              />
            </Section>
          )}
        </div>
        <Section title={words.result}>
          <div class="parts audience-result">
            {conditions.length === 0 ? (
              <p class="quiet-text">{words.nothingChosen}</p>
            ) : (
              <Sentence all={all} conditions={conditions} />
            )}
            <div role="status">{counted?.of === key && isComplete && <Size size={counted.size} />}</div>
            {isChecked && !isComplete && (
              <p class="problem" role="alert">
                {words.incomplete}
              </p>
            )}
            <Failure error={error} />
            <div>
              <button type="submit" class="primary" disabled={busy || left === 0}>
                <Icon name="people" />
                {busy ? words.working : words.submit}
              </button>
            </div>
            <p class="quiet">{words.rounding}</p>
            {allowance && left !== undefined && (
              <p class="quiet">
                {words.allowance(left, allowance.limit)} {words.resets} <Time at={allowance.resets_at} as="when" />.
              </p>
            )}
          </div>
        </Section>
      </form>
    </Page>
  );
};

/** The chosen options of a survey. Places that it does not have are ignored. */
const chosenIn = (all: Survey[], { survey, places }: Condition): Survey['options'] =>
  (all.find(({ id }) => id === survey)?.options ?? []).filter((_, place) => places.includes(place));

interface ChoiceProps {
  all: Survey[];
  /** Surveys that are chosen already: a request names each one once. */
  taken: string[];
  value?: string;
  onChange: (survey: string) => void;
}

const SurveyChoice = ({ all, taken, value = '', onChange }: ChoiceProps) => (
  <Select label={words.question} value={value} onValue={onChange}>
    {value === '' && <option value="">{words.noneChosen}</option>}
    {all
      .filter(({ id }) => id === value || !taken.includes(id))
      .toReversed()
      .map(({ id, question }) => (
        <option key={id} value={id}>
          {question}
        </option>
      ))}
  </Select>
);

/** Options that are shown at the same time. Others are found by a word. */
const SHOWN = 30;

interface ConditionProps {
  number: number;
  all: Survey[];
  condition: Condition;
  taken: string[];
  onChange: (condition: Condition) => void;
  onRemove: () => void;
}

const ConditionCard = ({ number, all, condition, taken, onChange, onRemove }: ConditionProps) => {
  const [word, setWord] = useState('');
  const options = all.find(({ id }) => id === condition.survey)?.options ?? [];
  const found = options
    .map((option, place) => ({ ...option, place }))
    .filter(({ option, place }) => condition.places.includes(place) || option.includes(word.trim().toLowerCase()));
  const toggle = (place: number) =>
    onChange({
      ...condition,
      places: condition.places.includes(place)
        ? condition.places.filter((one) => one !== place)
        : [...condition.places, place].sort((a, b) => a - b),
    });
  // Chosen ones are always shown.
  const shown = found.filter(({ place }, index) => index < SHOWN || condition.places.includes(place));
  return (
    <Section
      title={words.survey(number)}
      actions={
        <button type="button" class="icon-button" title={words.remove(number)} onClick={onRemove}>
          <Icon name="trash" />
          <span class="unseen">{words.remove(number)}</span>
        </button>
      }
    >
      <div class="parts condition">
        <SurveyChoice
          all={all}
          taken={taken}
          value={condition.survey}
          onChange={(survey) => onChange({ survey, places: [] })}
        />
        <fieldset class="field">
          <legend>{words.options}</legend>
          {options.length > SHOWN && (
            <input
              type="search"
              aria-label={words.findOption}
              placeholder={words.findOption}
              value={word}
              onInput={({ currentTarget }) => setWord(currentTarget.value)}
            />
          )}
          <div class="choices">
            {shown.map(({ id, option, place }) => (
              <label key={id} class="choice">
                <input type="checkbox" checked={condition.places.includes(place)} onChange={() => toggle(place)} />
                <span dir="auto">{option}</span>
              </label>
            ))}
          </div>
          {found.length > shown.length && <p class="quiet">{words.moreOptions(found.length - shown.length)}</p>}
        </fieldset>
      </div>
    </Section>
  );
};

/** Whom the request counts, in words. */
const Sentence = ({ all, conditions }: { all: Survey[]; conditions: Condition[] }) => (
  <p>
    {words.who}
    {conditions.map((condition, index) => (
      <span key={condition.survey}>
        {index > 0 && words.and}
        {chosenIn(all, condition).map(({ id, option }, place) => (
          <span key={id}>
            {place > 0 && words.or}
            <strong dir="auto">{option}</strong>
          </span>
        ))}
        {words.to}
        <q dir="auto">{all.find(({ id }) => id === condition.survey)?.question}</q>
      </span>
    ))}
  </p>
);

const Size = ({ size: { count } }: { size: Size }) => (
  <p class="survey-total">
    {count === null ? (
      <strong>{words.few}</strong>
    ) : (
      <>
        <strong>{words.range(count)}</strong> {words.people}
      </>
    )}
  </p>
);
