/** The view People's data: `#/people` with the list of requests, `#/people/receipts`, and the form and the page of a request. */
import { Icon } from '../../web/icons.tsx';
import { Chip, Empty } from '../../web/parts.tsx';
import { dateOf, spacedNumber, Time } from '../../web/text.tsx';
import type { RequestTo } from '../client.ts';
import { go, linkTo } from '../router.ts';
import { ButtonLink, List, Page, Section, Select, Table } from '../shell/page.tsx';
import { usePages } from '../use-call.ts';
import type { ViewProps } from '../views.ts';
import { people as words } from '../words/people.ts';
import { shell } from '../words/shell.ts';
import { Ask } from './ask.tsx';
import { PeopleTabs, Period, periodIn } from './parts.tsx';
import { Receipts } from './receipts.tsx';
import { OneRequest } from './request.tsx';
import { firstEnd, type ListedRequest, outcomeOf } from './requests.ts';

export const People = ({ route, session }: ViewProps) => {
  const [id] = route.rest;
  if (id === 'ask') return <Ask session={session} />;
  if (id === 'receipts') return <Receipts query={route.query} />;
  if (id !== undefined) return <OneRequest key={id} id={id} asked={route.query.asked} />;
  return <Requests query={route.query} />;
};

type Query = NonNullable<RequestTo<'listUserDataRequests'>['query']>;

const statuses = ['', 'pending', 'completed'] as const;

const Requests = ({ query }: { query: Record<string, string> }) => {
  const { from = '', to = '' } = query;
  const status = statuses.find((one) => one === query.status) ?? '';
  const { period, isBackwards } = periodIn(query);
  const isFiltered = status !== '' || Object.keys(period).length > 0;
  const filters: Query = { limit: '25', ...(status !== '' && { status }), ...period };
  const pages = usePages('listUserDataRequests', isBackwards ? undefined : { query: filters });
  const filter = (changed: Record<string, string>) =>
    go(linkTo('people', { status, from, to, ...changed }), { replace: true });
  return (
    <Page
      title={shell.views.people}
      intro={words.intro}
      actions={
        <ButtonLink href={linkTo('people', 'ask')} icon="plus" primary>
          {words.ask}
        </ButtonLink>
      }
    >
      <PeopleTabs open="requests" />
      <Section
        title={words.list.title}
        actions={
          <button type="button" class="quiet-button" disabled={pages.loading} onClick={pages.reload}>
            <Icon name="retry" />
            {words.list.again}
          </button>
        }
      >
        <div class="request-filters">
          <Select label={words.list.statusFilter} value={status} onValue={(value) => filter({ status: value })}>
            <option value="">{words.list.all}</option>
            <option value="pending">{words.list.pending}</option>
            <option value="completed">{words.list.completed}</option>
          </Select>
          <Period from={from} to={to} isBackwards={isBackwards} onChange={filter} />
          {isFiltered && <ButtonLink href={linkTo('people')}>{words.list.clear}</ButtonLink>}
        </div>
        {!isBackwards && (
          <List
            pages={pages}
            empty={
              isFiltered ? (
                <Empty icon="search">
                  <p>{words.list.noneFound}</p>
                  <ButtonLink href={linkTo('people')}>{words.list.clear}</ButtonLink>
                </Empty>
              ) : (
                <Empty icon="shield">
                  <p>{words.list.empty}</p>
                  <ButtonLink href={linkTo('people', 'ask')} icon="plus" primary>
                    {words.ask}
                  </ButtonLink>
                </Empty>
              )
            }
          >
            {(requests) => <Rows requests={requests} />}
          </List>
        )}
        <p class="quiet requests-note">{words.list.kept}</p>
      </Section>
    </Page>
  );
};

const Rows = ({ requests }: { requests: ListedRequest[] }) => (
  <Table
    caption={words.list.caption}
    items={requests}
    keyOf={({ requestId }) => requestId}
    columns={[
      {
        title: words.list.person,
        kind: 'title',
        cell: ({ requestId, phone_number, created }) => (
          <a class="person" href={linkTo('people', requestId, { asked: created.slice(0, 19) })}>
            {spacedNumber(phone_number)}
          </a>
        ),
      },
      {
        title: words.list.what,
        cell: ({ data, reason }) => (
          <div class="asked-for">
            <span>{words.namesOf(data.map(({ property }) => property))}</span>
            <q class="quiet" dir="auto">
              {reason}
            </q>
          </div>
        ),
      },
      { title: words.list.status, cell: (request) => <Outcome request={request} /> },
      { title: words.list.asked, cell: ({ created }) => <Time at={created} as="when" /> },
    ]}
  />
);

const Outcome = ({ request }: { request: ListedRequest }) => {
  const { text, tone } = outcomeOf(request);
  const end = firstEnd(request);
  return (
    <div class="request-outcome">
      <Chip tone={tone}>{text}</Chip>
      {end !== undefined && (
        <span class="quiet">
          {words.until}
          <time dateTime={end}>{dateOf(end)}</time>
        </span>
      )}
    </div>
  );
};
