/** Who gets a campaign: the numbers of a CSV file, or typed ones. */
import { useState } from 'preact/hooks';
import { figure } from '../../web/figures.ts';
import { Icon } from '../../web/icons.tsx';
import { Notice } from '../../web/parts.tsx';
import { spacedNumber } from '../../web/text.tsx';
import { Section, Select, Table, TextArea, TextField } from '../shell/page.tsx';
import { campaigns } from '../words/campaigns.ts';
import { decode, type FileFault, parseTable } from './csv.ts';
import type { Source } from './draft.ts';
import { change } from './memory.ts';
import { limits } from './message.ts';
import { guessReading, type People } from './people.ts';
import type { StepProps } from './step.ts';

const words = campaigns.who;

const MAX_BYTES = 20 * 1_024 * 1_024;

/** Entries that are listed. */
const LISTED = 100;

/** The first entries, with keys: an entry may be there several times. */
const listed = <Entry,>(entries: Entry[]) =>
  entries.slice(0, LISTED).map((entry, index) => ({ ...entry, key: String(index) }));

export const Who = ({ draft, people, faults, tried, onShow }: StepProps & { onShow: (place: number) => void }) => {
  const { from, typed, country } = draft;
  const count = people.people.length;
  const missing = tried && faults.who === 'none' ? words.required : undefined;
  const asksCountry = country !== '' || people.invalid.some(({ fault }) => fault === 'national');
  const choose = (next: 'file' | 'typed') => {
    change({ from: next });
    onShow(0);
  };
  return (
    <Section title={words.title}>
      <div class="parts">
        <fieldset class="campaign-tabs">
          <legend class="unseen">{words.how}</legend>
          {(['file', 'typed'] as const).map((one) => (
            <label key={one} data-chosen={from === one}>
              <input class="unseen" type="radio" name="from" checked={from === one} onChange={() => choose(one)} />
              {words[one]}
            </label>
          ))}
        </fieldset>
        {from === 'file' ? (
          <FromFile draft={draft} people={people} missing={missing} onShow={onShow} />
        ) : (
          <TextArea
            label={words.numbers}
            hint={words.numbersHint}
            error={missing}
            rows={6}
            spellcheck={false}
            autocomplete="off"
            value={typed}
            onValue={(value) => change({ typed: value })}
          />
        )}
        {asksCountry && (
          <div class="narrow-field">
            <TextField
              label={words.country}
              hint={words.countryHint}
              inputMode="numeric"
              maxLength={4}
              value={country}
              onValue={(value) => change({ country: value.replaceAll(/^0+|\D/g, '') })}
            />
          </div>
        )}
        <Sum people={people} />
        {faults.who === 'many' && <Notice tone="bad">{words.tooMany(count, limits.people)}</Notice>}
      </div>
    </Section>
  );
};

/** How many people there are, and what was left out, and why. */
const Sum = ({ people: { people, repeated, invalid } }: { people: People }) => (
  <div class="people-sum">
    <p class="people-count" role="status">
      <Icon name="people" />
      {people.length === 0 ? words.none : <strong>{words.total(people.length)}</strong>}
    </p>
    {repeated.length > 0 && (
      <details>
        <summary>
          <Icon name="layers" />
          {words.repeated(repeated.length)}
        </summary>
        <Table
          caption={words.repeatedCaption}
          items={listed(repeated)}
          keyOf={({ key }) => key}
          columns={[
            { title: words.line, cell: ({ line }) => figure(line) },
            { title: words.text, cell: ({ phone }) => spacedNumber(phone) },
          ]}
        />
        <Rest count={repeated.length} />
      </details>
    )}
    {invalid.length > 0 && (
      <details class="warn">
        <summary>
          <Icon name="alert" />
          {words.invalid(invalid.length)}
        </summary>
        <Table
          caption={words.invalidCaption}
          items={listed(invalid)}
          keyOf={({ key }) => key}
          columns={[
            { title: words.line, cell: ({ line }) => figure(line) },
            { title: words.text, cell: ({ text }) => text.slice(0, 60) || '–' },
            { title: words.why, cell: ({ fault }) => words.faults[fault] },
          ]}
        />
        <Rest count={invalid.length} />
      </details>
    )}
  </div>
);

const Rest = ({ count }: { count: number }) =>
  count > LISTED ? <p class="quiet">{words.moreEntries(count - LISTED)}</p> : null;

interface FromFileProps extends Pick<StepProps, 'draft' | 'people'> {
  missing: string | undefined;
  onShow: (place: number) => void;
}

const FromFile = ({ draft: { source }, people, missing, onShow }: FromFileProps) => {
  const [fault, setFault] = useState<string>();
  const [over, setOver] = useState(false);
  const read = async (file: File | undefined) => {
    if (file === undefined) return;
    const found = await readSource(file);
    if ('fault' in found) {
      setFault(found.fault);
      return;
    }
    setFault(undefined);
    change({ source: found });
    onShow(0);
  };
  const reading = (changes: Partial<Source>) => {
    if (source) change({ source: { ...source, ...changes } });
    onShow(0);
  };
  const drop = {
    onDragOver: (event: DragEvent) => {
      event.preventDefault();
      setOver(true);
    },
    onDragLeave: () => setOver(false),
    onDrop: (event: DragEvent) => {
      event.preventDefault();
      setOver(false);
      void read(event.dataTransfer?.files[0]);
    },
  };
  const error = fault ?? (source === undefined ? missing : undefined);
  return (
    <>
      <div class="file-drop" data-over={over} data-filled={source !== undefined} {...drop}>
        <Icon name={source ? 'file' : 'upload'} />
        {source && <strong class="file-name">{source.name}</strong>}
        <label class="button file-button">
          {source ? words.other : words.choose}
          <input
            type="file"
            class="unseen"
            accept=".csv,.txt,.tsv,text/csv,text/plain"
            aria-label={words.fileLabel}
            aria-invalid={error !== undefined}
            aria-describedby={error && 'file-error'}
            onChange={({ currentTarget }) => {
              void read(currentTarget.files?.[0]);
              // The same file can be chosen again when it was corrected.
              currentTarget.value = '';
            }}
          />
        </label>
        {source === undefined && <span class="quiet">{words.drop}</span>}
        {error && (
          <span class="problem" id="file-error" role="alert">
            {error}
          </span>
        )}
      </div>
      {source && (
        <>
          <div class="column-pair">
            <Select label={words.column} value={source.column} onValue={(value) => reading({ column: Number(value) })}>
              {people.columns.map((name, place) => (
                <option key={name} value={place}>
                  {name}
                </option>
              ))}
            </Select>
            <label class="choice">
              <input
                type="checkbox"
                checked={source.hasHeader}
                onChange={({ currentTarget }) => reading({ hasHeader: currentTarget.checked })}
              />
              {words.header}
            </label>
          </div>
          <Sample source={source} columns={people.columns} />
        </>
      )}
    </>
  );
};

/** Rows and columns of the sample. */
const SAMPLE = { rows: 3, columns: 4 };

const Sample = ({ source: { table, hasHeader, column }, columns }: { source: Source; columns: string[] }) => {
  const rows = table.rows.slice(hasHeader ? 1 : 0);
  // The column of the numbers is always there.
  const others = columns.map((_, place) => place).filter((place) => place !== column);
  const places = [column, ...others.slice(0, SAMPLE.columns - 1)].sort((a, b) => a - b);
  return (
    <table class="sample-table">
      <caption class="quiet">{words.sampleOf(Math.min(SAMPLE.rows, rows.length), rows.length)}</caption>
      <thead>
        <tr>
          {places.map((place) => (
            <th key={place} scope="col" data-chosen={place === column}>
              {columns[place]}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.slice(0, SAMPLE.rows).map(({ line, cells }) => (
          <tr key={line}>
            {places.map((place) => (
              <td key={place} data-chosen={place === column}>
                {cells[place]}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
};

const readSource = async (file: File): Promise<Source | { fault: string }> => {
  const { fileFaults } = words;
  if (file.size > MAX_BYTES) return { fault: fileFaults.large };
  const bytes = await file.arrayBuffer().catch(() => undefined);
  if (bytes === undefined) return { fault: fileFaults.unreadable };
  const text = decode(new Uint8Array(bytes));
  const table = typeof text === 'string' ? parseTable(text) : text;
  if ('fault' in table) return { fault: sentenceOf(table) };
  return { name: file.name, table, ...guessReading(table) };
};

const sentenceOf = ({ fault, line = 0 }: { fault: FileFault; line?: number }): string =>
  fault === 'quote' ? words.fileFaults.quote(line) : words.fileFaults[fault];
