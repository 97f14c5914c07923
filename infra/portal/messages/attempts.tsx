/** The attempts to tell the business's webhook about a message. */

import { HISTORY_DAYS } from '../../../shared/core/lifetimes.ts';
import { present } from '../../web/clock.ts';
import { milliseconds } from '../../web/figures.ts';
import { Chip } from '../../web/parts.tsx';
import { instant, Time } from '../../web/text.tsx';
import type { BodyFrom, RequestTo } from '../client.ts';
import { linkTo } from '../router.ts';
import type { Session } from '../session.ts';
import { Failure } from '../shell/failure.tsx';
import { Section, Table } from '../shell/page.tsx';
import { usePages } from '../use-call.ts';
import { causeOf } from '../words/causes.ts';
import { messages } from '../words/messages.ts';
import { shell } from '../words/shell.ts';

const words = messages.attempts;

type Delivery = NonNullable<BodyFrom<'listDeliveries'>>[number];

interface AttemptsProps {
  message: BodyFrom<'readMessage'>;
  session: Session;
}

/** Not shown for accounts without a webhook: they have no attempts. */
export const Attempts = ({ message, session }: AttemptsProps) => {
  const pages = usePages('listDeliveries', session.may('listDeliveries') ? requestFor(message) : undefined);
  const { items = [], more, error, loading, reload } = pages;
  const found = items.filter(({ message_id }) => message_id === message.id);
  if (error === undefined && found.length === 0 && more === undefined) return null;
  return (
    <Section title={words.title}>
      <Failure error={error} onRetry={reload} title={shell.notLoaded} />
      {found.length > 0 && (
        <Table
          caption={words.caption}
          items={found}
          keyOf={({ id }) => id}
          columns={[
            {
              title: words.started,
              cell: ({ id, started }) => (
                <a href={linkTo('webhooks', 'deliveries', id)}>
                  <Time at={started} as="exact" />
                </a>
              ),
            },
            {
              title: words.about,
              cell: ({ type, attempt, url }) => (
                <div>
                  {words.types[type]} <span class="quiet">{words.number(attempt)}</span>
                  {url !== undefined && <span class="quiet reference">{url}</span>}
                </div>
              ),
            },
            { title: words.result, cell: (delivery) => <Result delivery={delivery} /> },
          ]}
        />
      )}
      {more && (
        <p class="more">
          <span class="quiet">{words.part}</span>{' '}
          <button type="button" disabled={loading} onClick={more}>
            {loading ? words.searching : words.searchMore}
          </button>
        </p>
      )}
    </Section>
  );
};

const DAY_MS = 86_400_000;
/** An event is accepted when its state is logged, or soon afterwards. */
const AROUND_MS = 60_000;

/** The deliveries of the time of a message; `undefined` if none are kept. Events have no filter for a message. */
const requestFor = ({ states, reference }: AttemptsProps['message']): RequestTo<'listDeliveries'> | undefined => {
  const times = states.map(({ created }) => instant(created).getTime());
  const [first, last] = [Math.min(...times), Math.max(...times)];
  if (last < present() - HISTORY_DAYS * DAY_MS) return undefined;
  return {
    query: {
      reference,
      start: new Date(first - AROUND_MS).toISOString(),
      end: new Date(last + AROUND_MS).toISOString(),
      limit: '500',
    },
  };
};

const Result = ({ delivery }: { delivery: Delivery }) => {
  const { status, status_code, error, duration_ms, next_attempt } = delivery;
  const isGood = status === 'succeeded';
  const cause = status_code === undefined ? error : `status_${status_code}`;
  return (
    <div class="message-outcome">
      <Chip tone={isGood ? 'ok' : 'bad'}>{isGood ? words.succeeded : words.failed}</Chip>
      {duration_ms !== undefined && <span class="quiet">{words.took(milliseconds(duration_ms))}</span>}
      {!isGood && <p class="quiet">{causeOf(cause).text}</p>}
      {next_attempt !== undefined && instant(next_attempt).getTime() > present() && (
        <p class="quiet">
          {words.next}: <Time at={next_attempt} as="when" />
        </p>
      )}
    </div>
  );
};
