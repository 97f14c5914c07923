/** The form of a new survey: a question with options. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Icon, type IconName } from '../../web/icons.tsx';
import { useToast } from '../../web/toast.tsx';
import { call } from '../client.ts';
import { go, linkTo } from '../router.ts';
import { Failure } from '../shell/failure.tsx';
import { ButtonLink, Page, Section, TextArea } from '../shell/page.tsx';
import { useAction, useIntention } from '../use-call.ts';
import { shell } from '../words/shell.ts';
import { surveys } from '../words/surveys.ts';

const words = surveys.form;

interface Option {
  /** Stays the same while the option moves. */
  key: string;
  text: string;
}

const newOption = (text = ''): Option => ({ key: crypto.randomUUID(), text });

/** As the service compares options. */
const plainOf = ({ text }: Option): string => text.trim().toLowerCase();

/** What receives the focus after a change of the options: moving an element takes it away. */
type Focus = { key: string; on: 'input' | 'up' | 'down' };

export const NewSurvey = () => {
  const [question, setQuestion] = useState('');
  const [options, setOptions] = useState<Option[]>(() => [newOption(), newOption()]);
  const [isChecked, setChecked] = useState(false);
  const toast = useToast();
  const newKey = useIntention(JSON.stringify([question, options.map(({ text }) => text)]));
  const { run, busy, error } = useAction(async () => {
    const { body } = await call('createProfiler', {
      body: { question: question.trim(), options: options.map(({ text }) => text.trim()).filter(Boolean) },
      idempotencyKey: newKey(),
    });
    toast(words.created);
    go(linkTo('surveys', body.profiler_id), { replace: true });
  });
  const different = new Set(options.map(plainOf).filter(Boolean)).size;
  const questionError = isChecked && question.trim() === '' ? words.noQuestion : undefined;
  const optionsError = isChecked && different < 2 ? words.tooFew : undefined;
  const submit = (event: Event) => {
    event.preventDefault();
    setChecked(true);
    if (question.trim() !== '' && different > 1) run();
  };
  return (
    <Page title={words.title} back={{ href: linkTo('surveys'), label: surveys.back }}>
      <div class="beside">
        <Section title={words.content}>
          <form class="form" onSubmit={submit} noValidate>
            <TextArea
              label={words.question}
              hint={words.questionHint}
              error={questionError}
              rows={2}
              dir="auto"
              value={question}
              onValue={setQuestion}
            />
            <Options options={options} onChange={setOptions} error={optionsError} />
            <Failure error={error} />
            <div class="buttons">
              <button type="submit" class="primary" disabled={busy}>
                {busy ? words.working : words.submit}
              </button>
              <ButtonLink href={linkTo('surveys')}>{shell.cancel}</ButtonLink>
            </div>
          </form>
        </Section>
        <Preview question={question} options={options} />
      </div>
    </Page>
  );
};

interface OptionsProps {
  options: Option[];
  onChange: (options: Option[]) => void;
  error: string | undefined;
}

/** The options: each one can be changed, moved and removed, with the keyboard alone. */
const Options = ({ options, onChange, error }: OptionsProps) => {
  const [focus, setFocus] = useState<Focus>();
  const [news, setNews] = useState('');
  const list = useRef<HTMLOListElement>(null);
  // Before the next key: who types on must not type into another option.
  useLayoutEffect(() => {
    if (focus === undefined) return;
    list.current?.querySelector<HTMLElement>(`[data-focus="${focus.on} ${focus.key}"]`)?.focus();
    setFocus(undefined);
  }, [focus]);

  const nameOf = (option: Option): string => option.text.trim() || words.option(options.indexOf(option) + 1);
  const add = (after: number, texts = ['']) => {
    const added = texts.map((text) => newOption(text));
    onChange(options.toSpliced(after + 1, 0, ...added));
    setFocus({ key: added.at(-1)?.key ?? '', on: 'input' });
  };
  const remove = (option: Option) => {
    const place = options.indexOf(option);
    const rest = options.filter((one) => one !== option);
    onChange(rest);
    setNews(words.removed(nameOf(option)));
    setFocus({ key: rest[Math.min(place, rest.length - 1)]?.key ?? '', on: 'input' });
  };
  const move = (option: Option, by: -1 | 1, keep: 'input' | 'button') => {
    const place = options.indexOf(option);
    const to = place + by;
    if (to < 0 || to >= options.length) return;
    onChange(options.toSpliced(place, 1).toSpliced(to, 0, option));
    setNews(words.moved(nameOf(option), to + 1, options.length));
    // The button may be disabled now: at the end of the list, the focus goes to the other one.
    const on = to === 0 ? 'down' : to === options.length - 1 ? 'up' : by < 0 ? 'up' : 'down';
    setFocus({ key: option.key, on: keep === 'input' ? 'input' : on });
  };
  const change = (option: Option, text: string) =>
    onChange(options.map((one) => (one === option ? { ...one, text } : one)));
  /** Several lines, as from a spreadsheet, become several options. */
  const paste = (event: ClipboardEvent, option: Option) => {
    const lines = (event.clipboardData?.getData('text/plain') ?? '')
      .split(/\r?\n/)
      .map((line) => line.trim())
      .filter(Boolean);
    if (lines.length < 2) return;
    event.preventDefault();
    const place = options.indexOf(option);
    const pasted = lines.map((line) => newOption(line));
    onChange(
      options.toSpliced(option.text.trim() === '' ? place : place + 1, option.text.trim() === '' ? 1 : 0, ...pasted),
    );
    setFocus({ key: pasted.at(-1)?.key ?? '', on: 'input' });
  };
  const press = (event: KeyboardEvent, option: Option) => {
    const place = options.indexOf(option);
    if (event.altKey && (event.key === 'ArrowUp' || event.key === 'ArrowDown')) {
      event.preventDefault();
      move(option, event.key === 'ArrowUp' ? -1 : 1, 'input');
    } else if (event.key === 'Enter' && !event.isComposing) {
      event.preventDefault();
      add(place);
    }
  };

  return (
    <fieldset class="field" aria-describedby="options-hint">
      <legend>{words.options}</legend>
      <p class="quiet" id="options-hint">
        {words.optionsHint}
      </p>
      <ol class="options" ref={list}>
        {options.map((option, place) => {
          const same = options.findIndex((one) => plainOf(one) === plainOf(option));
          const isSame = plainOf(option) !== '' && same < place;
          const button = (on: 'up' | 'down' | 'remove', icon: IconName, label: string, disabled: boolean) => (
            <button
              type="button"
              class="icon-button"
              title={label}
              disabled={disabled}
              data-focus={`${on} ${option.key}`}
              onClick={() => (on === 'remove' ? remove(option) : move(option, on === 'up' ? -1 : 1, 'button'))}
            >
              <Icon name={icon} />
              <span class="unseen">{label}</span>
            </button>
          );
          return (
            <li key={option.key}>
              <input
                aria-label={words.option(place + 1)}
                aria-invalid={error !== undefined && plainOf(option) === ''}
                aria-describedby={isSame ? `same-${option.key}` : undefined}
                data-focus={`input ${option.key}`}
                dir="auto"
                value={option.text}
                onInput={({ currentTarget }) => change(option, currentTarget.value)}
                onKeyDown={(event) => press(event, option)}
                onPaste={(event) => paste(event, option)}
              />
              {button('up', 'up', words.up(nameOf(option)), place === 0)}
              {button('down', 'chevron', words.down(nameOf(option)), place === options.length - 1)}
              {button('remove', 'trash', words.remove(nameOf(option)), options.length === 1)}
              {isSame && (
                <span class="option-note" id={`same-${option.key}`}>
                  {words.same(same + 1)}
                </span>
              )}
            </li>
          );
        })}
      </ol>
      {error && (
        <span class="problem" role="alert">
          {error}
        </span>
      )}
      <p class="unseen" role="status">
        {news}
      </p>
      <div>
        <button type="button" onClick={() => add(options.length - 1)}>
          <Icon name="plus" />
          {words.add}
        </button>
      </div>
    </fieldset>
  );
};

/** The survey as the service keeps it: options in small letters, each one once. */
const Preview = ({ question, options }: { question: string; options: Option[] }) => {
  const texts = [...new Set(options.map(plainOf).filter(Boolean))];
  return (
    <Section title={words.preview}>
      <p class="preview-question" dir="auto">
        {question.trim() || <span class="quiet">{words.previewEmpty}</span>}
      </p>
      <ul class="preview-options">
        {texts.map((text) => (
          <li key={text} dir="auto">
            {text}
          </li>
        ))}
      </ul>
    </Section>
  );
};
