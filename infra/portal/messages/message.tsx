/** The life of one message. */
import { useEffect, useState } from 'preact/hooks';
import { present } from '../../web/clock.ts';
import { milliseconds } from '../../web/figures.ts';
import { Icon, type IconName } from '../../web/icons.tsx';
import { Empty, Notice, Skeleton } from '../../web/parts.tsx';
import { dayOrDate, instant, Time } from '../../web/text.tsx';
import { ApiError, type BodyFrom } from '../client.ts';
import { linkTo } from '../router.ts';
import type { Session } from '../session.ts';
import { Failure } from '../shell/failure.tsx';
import { ButtonLink, Facts, Id, Page, Section } from '../shell/page.tsx';
import { useCall } from '../use-call.ts';
import { messages } from '../words/messages.ts';
import { explainReason, kindOf, stepLabel, stepMeaning } from '../words/outcomes.ts';
import { shell } from '../words/shell.ts';
import { Attempts } from './attempts.tsx';
import { furthestOf, isErased, isFailure, isFromPerson, personIn } from './log.ts';
import { personOf, Status, way } from './parts.tsx';
import { listLink } from './search.ts';

const words = messages.message;

type Read = BodyFrom<'readMessage'>;

/** A new message is read again, so that its next steps appear. */
const EVERY_MS = 5_000;
const NEW_MS = 10 * 60_000;

interface MessageProps {
  id: string;
  session: Session;
  /** The address of the list from which it was opened. */
  back: string;
}

export const Message = ({ id, session, back }: MessageProps) => {
  const may = session.may('readMessage');
  const [every, setEvery] = useState<number | false>(false);
  const { data, error, reload } = useCall('readMessage', may ? { path: { id } } : undefined, every);
  useEffect(() => setEvery(data !== undefined && mayGoOn(data) ? EVERY_MS : false), [data]);
  const isGone = error instanceof ApiError && error.status === 404;
  return (
    <Page
      title={data === undefined ? shell.views.messages : titleOf(data)}
      back={{ href: back, label: words.back }}
      actions={data && <Status state={furthestOf(data.states)} />}
    >
      {!may || isGone ? (
        <Empty icon={may ? 'search' : 'lock'}>
          <p>{may ? words.notFound : words.mayNot}</p>
          <ButtonLink href={back}>{words.toList}</ButtonLink>
        </Empty>
      ) : (
        <>
          <Failure error={error} onRetry={reload} title={shell.notLoaded} />
          {data === undefined ? (
            error === undefined && <Skeleton rows={5} />
          ) : (
            <>
              <Notices message={data} session={session} />
              <Life message={data} />
              <About message={data} session={session} />
              <Attempts message={data} session={session} />
            </>
          )}
        </>
      )}
    </Page>
  );
};

const titleOf = ({ contact, states }: Read): string => {
  const isFrom = states.some(({ state }) => isFromPerson(state));
  if (isErased(contact)) return isFrom ? words.fromErased : words.toErased;
  return (isFrom ? words.from : words.to)(personOf(contact));
};

const mayGoOn = ({ states }: Read): boolean => {
  const last = states.at(-1);
  return (
    ['sent', 'delivered_to_server', 'delivered_to_user'].includes(furthestOf(states)) &&
    last !== undefined &&
    instant(last.created).getTime() + NEW_MS > present()
  );
};

/** What a person must know before they read the steps. */
const Notices = ({ message: { contact, states, waits_until }, session }: { message: Read; session: Session }) => {
  const failure = states.find(({ state }) => isFailure(state));
  const { cause, fix } = explainReason(failure?.state ?? '', failure?.reason);
  return (
    <>
      {isErased(contact) && <Notice tone="plain">{words.erasedNotice}</Notice>}
      {failure && (
        <Notice tone="bad" title={`${stepLabel(failure.state)}: ${cause}`}>
          <p>{fix}</p>
          {isFromPerson(failure.state) && session.may('listDeliveries') && (
            <p>
              <ButtonLink href={linkTo('webhooks')}>{words.openWebhooks}</ButtonLink>
            </p>
          )}
        </Notice>
      )}
      {waits_until !== undefined && (
        <Notice tone="warn">
          <p>
            {words.waits} <Time at={waits_until} as="when" />.
          </p>
        </Notice>
      )}
      {states[0]?.state === 'scheduled' && waits_until === undefined && <Notice tone="plain">{words.scheduled}</Notice>}
    </>
  );
};

const icons: Partial<Record<string, IconName>> = {
  scheduled: 'calendar',
  sent: 'send',
  received: 'reply',
  delivered_to_server: 'server',
  delivered_to_user: 'phone',
  read: 'eye',
};

const Life = ({ message: { states } }: { message: Read }) => {
  const start = states[0]?.created ?? '';
  const furthest = furthestOf(states);
  const isOver = states.some(({ state }) => isFailure(state) || isFromPerson(state));
  const ahead = isOver ? [] : way.slice(way.indexOf(furthest) + 1);
  return (
    <Section title={words.life}>
      <ol class="life">
        {states.map(({ state, created }, place) => (
          <li key={state} class={isFailure(state) ? 'failed' : 'reached'}>
            <Icon name={isFailure(state) ? 'cross' : (icons[state] ?? 'check')} />
            <div>
              <strong>{stepLabel(state)}</strong>
              <p class="quiet">{stepMeaning(state)}</p>
            </div>
            <span class="life-time">
              <span>
                {dayOrDate(created)}, <Time at={created} as="exact" />
              </span>
              {place > 0 && (
                <span class="quiet">
                  {words.after(milliseconds(Math.max(instant(created).getTime() - instant(start).getTime(), 0)))}
                </span>
              )}
            </span>
          </li>
        ))}
        {ahead.map((state) => (
          <li key={state}>
            <Icon name={icons[state] ?? 'clock'} />
            <div>
              <strong>{stepLabel(state)}</strong>
            </div>
            <span class="life-time quiet">{words.notYet}</span>
          </li>
        ))}
      </ol>
    </Section>
  );
};

const About = ({ message, session }: { message: Read; session: Session }) => {
  const { id, contact, payload_type, reference, job_id } = message;
  const person = personIn(contact);
  return (
    <Section title={words.facts} actions={<a href={listLink({ contact: person })}>{words.withPerson}</a>}>
      <Facts
        facts={[
          [words.person, personOf(contact)],
          [words.content, kindOf(payload_type)],
          reference !== undefined && [words.reference, <a href={listLink({ reference })}>{reference}</a>],
          [
            words.campaign,
            session.may('readJob') ? <a href={linkTo('campaigns', job_id)}>{words.openCampaign}</a> : job_id,
          ],
          [words.id, <Id key="id" id={id} label={words.copyId} />],
        ]}
      />
    </Section>
  );
};
