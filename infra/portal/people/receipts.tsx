/** Receipts of consent: of all people, of one, and of one request. */
import { useState } from 'preact/hooks';
import { Icon } from '../../web/icons.tsx';
import { Chip, Empty, type Tone } from '../../web/parts.tsx';
import { spacedNumber, Time } from '../../web/text.tsx';
import type { BodyFrom } from '../client.ts';
import { phoneIn } from '../phone-numbers.ts';
import { go, linkTo } from '../router.ts';
import { ButtonLink, List, Page, Section, Table, TextField } from '../shell/page.tsx';
import { usePages } from '../use-call.ts';
import { people } from '../words/people.ts';
import { shell } from '../words/shell.ts';
import { PeopleTabs, Period, periodIn } from './parts.tsx';

const words = people.receipts;

export type Receipt = NonNullable<BodyFrom<'listReceipts'>>[number];

const tones: Record<Receipt['event'], Tone> = { released: 'ok', withdrawn: 'warn', expired: 'warn', deleted: 'plain' };

/** A number is personal, so it is not in the address. */
export const Receipts = ({ query }: { query: Record<string, string> }) => {
  const [number, setNumber] = useState('');
  const [phone, setPhone] = useState<string>();
  const { from = '', to = '' } = query;
  const { period, isBackwards } = periodIn(query);
  const isFiltered = phone !== undefined || Object.keys(period).length > 0;
  const filters = { limit: '50', ...(phone !== undefined && { phone_number: phone }), ...period };
  const pages = usePages('listReceipts', isBackwards ? undefined : { query: filters });
  const given = phoneIn(number);
  const isWrong = given === undefined && number.trim() !== '';
  const clear = () => {
    setNumber('');
    setPhone(undefined);
    go(linkTo('people', 'receipts'), { replace: true });
  };
  return (
    <Page title={shell.views.people} intro={words.intro}>
      <PeopleTabs open="receipts" />
      <Section title={people.tabs.receipts}>
        <form
          class="request-filters"
          onSubmit={(event) => {
            event.preventDefault();
            if (!isWrong) setPhone(given);
          }}
        >
          <TextField
            label={words.number}
            error={isWrong ? people.form.badNumber : undefined}
            type="tel"
            autocomplete="off"
            value={number}
            onValue={setNumber}
          />
          <button type="submit">
            <Icon name="search" />
            {words.search}
          </button>
          <Period
            from={from}
            to={to}
            isBackwards={isBackwards}
            onChange={(changed) => go(linkTo('people', 'receipts', { from, to, ...changed }), { replace: true })}
          />
          {isFiltered && (
            <button type="button" onClick={clear}>
              {people.list.clear}
            </button>
          )}
        </form>
        {!isBackwards && (
          <List
            pages={pages}
            empty={
              <Empty icon={isFiltered ? 'search' : 'shield'}>
                <p>{isFiltered ? words.noneFound : words.empty}</p>
                {!isFiltered && <ButtonLink href={linkTo('people', 'ask')}>{people.ask}</ButtonLink>}
              </Empty>
            }
          >
            {(receipts) => <ReceiptTable receipts={receipts} showsPerson />}
          </List>
        )}
        <p class="quiet requests-note">{words.kept}</p>
      </Section>
    </Page>
  );
};

/** @param showsPerson - also whom the receipts concern, with a link to the request */
export const ReceiptTable = ({ receipts, showsPerson = false }: { receipts: Receipt[]; showsPerson?: boolean }) => (
  <Table
    caption={words.caption}
    items={receipts}
    keyOf={({ requestId, timestamp, event }) => `${timestamp}${requestId}${event}`}
    columns={[
      ...(showsPerson
        ? [
            {
              title: people.list.person,
              kind: 'title' as const,
              cell: ({ requestId, phone_number }: Receipt) => (
                <a class="person" href={linkTo('people', requestId)}>
                  {phone_number === undefined ? words.left : spacedNumber(phone_number)}
                </a>
              ),
            },
          ]
        : []),
      { title: words.when, cell: ({ timestamp }) => <Time at={timestamp} as="when" /> },
      { title: words.event, cell: ({ event }) => <Chip tone={tones[event]}>{words.events[event]}</Chip> },
      {
        title: words.what,
        cell: ({ properties, reason, valid_until }) => (
          <div class="asked-for">
            <span>{people.namesOf(properties)}</span>
            {showsPerson && (
              <q class="quiet" dir="auto">
                {reason}
              </q>
            )}
            {valid_until !== undefined && (
              <span class="quiet">
                {people.until}
                <Time at={valid_until} as="date" />
              </span>
            )}
          </div>
        ),
      },
    ]}
  />
);
