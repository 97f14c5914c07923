/** The list of messages, newest first. */
import { Icon } from '../../web/icons.tsx';
import { Empty } from '../../web/parts.tsx';
import { Time } from '../../web/text.tsx';
import { linkTo } from '../router.ts';
import type { Session } from '../session.ts';
import { ButtonLink, Page, List as Pages, Section, Table } from '../shell/page.tsx';
import { usePages } from '../use-call.ts';
import { messages } from '../words/messages.ts';
import { explainReason, kindOf } from '../words/outcomes.ts';
import { shell } from '../words/shell.ts';
import { isErased, isFailure, isFromPerson, type LogEntry, messagesIn } from './log.ts';
import { personOf, Status, Way } from './parts.tsx';
import { type Filters, listLink, queryOf } from './search.ts';
import { SearchForm } from './search-form.tsx';

const words = messages.list;

interface ListProps {
  filters: Filters;
  session: Session;
}

export const List = ({ filters, session }: ListProps) => {
  const pages = usePages('listLogs', { query: { ...queryOf(filters), limit: '100' } });
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <Page
      title={shell.views.messages}
      actions={
        session.may('sendMessage') && (
          <ButtonLink href={linkTo('campaigns', 'new')} icon="pen" primary>
            {messages.write}
          </ButtonLink>
        )
      }
    >
      <SearchForm filters={filters} session={session} />
      <Section
        title={isFiltered ? words.found : words.title}
        actions={
          <button type="button" class="quiet-button" disabled={pages.loading} onClick={pages.reload}>
            <Icon name="retry" />
            {messages.reload}
          </button>
        }
      >
        <Pages pages={pages} empty={<Nothing isFiltered={isFiltered} session={session} />}>
          {(entries) => (
            <Rows entries={entries} hasMore={pages.more !== undefined} filters={filters} session={session} />
          )}
        </Pages>
      </Section>
    </Page>
  );
};

const Nothing = ({ isFiltered, session }: { isFiltered: boolean; session: Session }) =>
  isFiltered ? (
    <Empty icon="search">
      <p>{words.notFound}</p>
      <ButtonLink href={listLink({})}>{words.clear}</ButtonLink>
    </Empty>
  ) : (
    <Empty icon="chat">
      <p>{words.none}</p>
      {session.may('sendMessage') && <ButtonLink href={linkTo('campaigns', 'new')}>{messages.write}</ButtonLink>}
    </Empty>
  );

interface RowsProps extends ListProps {
  entries: LogEntry[];
  /** Whether the API has older entries. */
  hasMore: boolean;
}

const Rows = ({ entries, hasMore, filters, session }: RowsProps) => {
  const rows = messagesIn(entries);
  if (rows.length === 0) return <p>{words.nothingYet}</p>;
  return (
    <>
      <p class="quiet" role="status">
        {words.shown(rows.length, hasMore)}.{' '}
        {isOnTheWay(filters.state) ? words.byState : filters.end ? words.byEnd : ''}
      </p>
      <Table
        caption={words.caption}
        items={rows}
        keyOf={({ id }) => id}
        columns={[
          { title: words.time, cell: ({ created }) => <Time at={created} as="when" /> },
          {
            title: words.person,
            cell: ({ id, contact, state }) => {
              const label = directionOf(contact, state);
              return session.may('readMessage') ? <a href={linkTo('messages', id)}>{label}</a> : label;
            },
          },
          {
            title: words.content,
            cell: ({ payload_type, reference }) => (
              <div>
                {kindOf(payload_type)}
                {reference !== undefined && <span class="quiet reference">{reference}</span>}
              </div>
            ),
          },
          { title: words.status, cell: (entry) => <Outcome entry={entry} /> },
        ]}
      />
    </>
  );
};

const directionOf = (contact: string, state: string): string => {
  const isFrom = isFromPerson(state);
  if (isErased(contact)) return isFrom ? words.fromErased : words.toErased;
  return (isFrom ? words.from : words.to)(personOf(contact));
};

/** Whether a message may get further than a state. */
const isOnTheWay = (state: string | undefined): boolean =>
  ['sent', 'delivered_to_server', 'delivered_to_user', 'received'].includes(state ?? '');

const Outcome = ({ entry: { state, reason } }: { entry: LogEntry }) => (
  <div class="message-outcome">
    <Status state={state} />
    {!isFromPerson(state) && <Way state={state} />}
    {isFailure(state) && <p class="quiet">{explainReason(state, reason).cause}</p>}
  </div>
);
