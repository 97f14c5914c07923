/** What the webhooks received and returned: a list with filters. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { milliseconds } from '../../web/figures.ts';
import { Icon } from '../../web/icons.tsx';
import { Chip, Empty } from '../../web/parts.tsx';
import { spacedNumber, Time } from '../../web/text.tsx';
import type { BodyFrom } from '../client.ts';
import { go, linkTo, type Route } from '../router.ts';
import type { Session } from '../session.ts';
import { List, Page, Section, Select, Table, TextField } from '../shell/page.tsx';
import { fromLocal, toLocal } from '../times.ts';
import { useCall, usePages } from '../use-call.ts';
import { shell } from '../words/shell.ts';
import { webhooks as words } from '../words/webhooks.ts';
import { nameOf, usePlatform } from './platform.tsx';
import { Recover } from './recover.tsx';

export type Delivery = NonNullable<BodyFrom<'listDeliveries'>>[number];
export type Webhook = NonNullable<BodyFrom<'listWebhooks'>>[number];

const PAGE = '50';

interface DeliveriesProps {
  route: Route;
  session: Session;
  tabs: ComponentChildren;
}

export const Deliveries = ({ route, session, tabs }: DeliveriesProps) => {
  const { webhook, status, reference, start, end } = route.query;
  const [recovers, setRecovers] = useState(false);
  const platform = usePlatform(session);
  const isElsewhere = platform && !platform.name.startsWith('webhook');
  const all = useCall('listWebhooks', session.may('listWebhooks') && platform && !isElsewhere ? {} : undefined);
  const pages = usePages('listDeliveries', {
    query: {
      limit: PAGE,
      webhook_id: webhook,
      status: status === 'succeeded' || status === 'failed' ? status : undefined,
      reference,
      start,
      end,
    },
  });
  const set = (change: Record<string, string | undefined>) =>
    go(linkTo('webhooks', 'deliveries', { ...route.query, ...change }), { replace: true });
  const isFiltered = Object.values(route.query).some(Boolean);
  const text = words.deliveries;
  return (
    <Page
      title={shell.views.webhooks}
      intro={text.intro}
      actions={
        !isElsewhere && (
          <button type="button" onClick={() => setRecovers(true)}>
            <Icon name="retry" />
            {text.recover}
          </button>
        )
      }
    >
      {tabs}
      <Section
        title={words.tabs.deliveries}
        actions={
          isFiltered && (
            <button
              type="button"
              class="text-button"
              onClick={() => go(linkTo('webhooks', 'deliveries'), { replace: true })}
            >
              {text.clear}
            </button>
          )
        }
      >
        <form class="delivery-filters" aria-label={text.filters} onSubmit={(event) => event.preventDefault()}>
          {all.data && (
            <Select label={text.webhook} value={webhook ?? ''} onValue={(value) => set({ webhook: value })}>
              <option value="">{text.allWebhooks}</option>
              {all.data?.map(({ id, url }) => (
                <option key={id} value={id}>
                  {shortened(url)}
                </option>
              ))}
              {webhook && !all.data?.some(({ id }) => id === webhook) && (
                <option value={webhook}>{text.deletedWebhook}</option>
              )}
            </Select>
          )}
          <Select label={text.status} value={status ?? ''} onValue={(value) => set({ status: value })}>
            <option value="">{text.all}</option>
            <option value="succeeded">{text.succeeded}</option>
            <option value="failed">{text.failed}</option>
          </Select>
          <TextField
            label={text.reference}
            type="search"
            maxLength={64}
            value={reference ?? ''}
            onChange={({ currentTarget }) => set({ reference: currentTarget.value.trim() })}
          />
          <TextField
            label={text.from}
            type="datetime-local"
            value={toLocal(start)}
            onChange={({ currentTarget }) => set({ start: fromLocal(currentTarget.value) })}
          />
          <TextField
            label={text.until}
            type="datetime-local"
            value={toLocal(end)}
            onChange={({ currentTarget }) => set({ end: fromLocal(currentTarget.value) })}
          />
        </form>
        <List
          pages={pages}
          empty={
            <Empty icon="webhook">
              <p>
                {isElsewhere && platform
                  ? words.platform.noDeliveries(nameOf(platform))
                  : isFiltered
                    ? text.emptyFiltered
                    : text.empty}
              </p>
            </Empty>
          }
        >
          {(items) => (
            <Table
              caption={text.caption}
              items={items}
              keyOf={({ id }) => id}
              columns={[
                {
                  title: text.columns.when,
                  cell: ({ id, started }) => (
                    <a href={linkTo('webhooks', 'deliveries', id)}>
                      <Time at={started} as="when" />
                    </a>
                  ),
                },
                {
                  title: text.columns.event,
                  cell: ({ type, attempt }) => (
                    <span>
                      {text.types[type]}
                      {attempt > 1 && <span class="quiet"> {text.attempt(attempt)}</span>}
                    </span>
                  ),
                },
                { title: text.columns.user, cell: ({ contact }) => <span class="whole">{userOf(contact)}</span> },
                { title: text.columns.to, cell: ({ url }) => <span class="quiet">{url && shortened(url)}</span> },
                { title: text.columns.result, cell: (delivery) => <ResultChip delivery={delivery} /> },
                {
                  title: text.columns.duration,
                  kind: 'number',
                  cell: ({ duration_ms }) => (duration_ms === undefined ? '–' : milliseconds(duration_ms)),
                },
              ]}
            />
          )}
        </List>
      </Section>
      {recovers && (
        <Recover webhooks={all.data ?? []} webhook={webhook} onClose={() => setRecovers(false)} onDone={pages.reload} />
      )}
    </Page>
  );
};

/** A URL without its scheme, and with at most 60 characters. */
const shortened = (url: string): string => {
  const rest = url.replace(/^https?:\/\//, '');
  return rest.length > 60 ? `${rest.slice(0, 59)}…` : rest;
};

/** `+27 8212 34567`; the contact as it is if it is no number any more. */
export const userOf = (contact: string | undefined): string => {
  const [phone = ''] = (contact ?? '').split('@');
  return /^\d{7,15}$/.test(phone) ? spacedNumber(phone) : phone || '–';
};

export const ResultChip = ({ delivery: { status, status_code } }: { delivery: Delivery }) => (
  <Chip tone={status === 'succeeded' ? 'ok' : 'bad'}>
    {words.deliveries.result(status_code, status === 'succeeded')}
  </Chip>
);
