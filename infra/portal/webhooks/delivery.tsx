/** One request to a webhook, and its response. */

import { milliseconds } from '../../web/figures.ts';
import { Icon } from '../../web/icons.tsx';
import { Empty, Notice, Skeleton } from '../../web/parts.tsx';
import { Time } from '../../web/text.tsx';
import { useToast } from '../../web/toast.tsx';
import { ApiError, call } from '../client.ts';
import { linkTo } from '../router.ts';
import type { Session } from '../session.ts';
import { Code } from '../shell/code.tsx';
import { Failure } from '../shell/failure.tsx';
import { ButtonLink, Facts, Id, Page, Section } from '../shell/page.tsx';
import { useAction, useCall } from '../use-call.ts';
import { causeOf } from '../words/causes.ts';
import { shell } from '../words/shell.ts';
import { webhooks as texts } from '../words/webhooks.ts';
import { type Delivery, ResultChip, userOf } from './deliveries.tsx';

const words = texts.delivery;

export const DeliveryPage = ({ id, session }: { id: string; session: Session }) => {
  const { data, error, reload } = useCall('readDelivery', { path: { delivery_id: id } });
  const toast = useToast();
  const replay = useAction(async () => {
    const { body } = await call('replayDelivery', { path: { delivery_id: id } });
    toast(words[body.status]);
  });
  const isMissing = error instanceof ApiError && error.status === 404;
  return (
    <Page
      title={words.title}
      back={{ href: linkTo('webhooks', 'deliveries'), label: words.back }}
      actions={
        data && (
          <button type="button" class="primary" disabled={replay.busy} onClick={() => replay.run()}>
            <Icon name="retry" />
            {replay.busy ? words.replaying : words.replay}
          </button>
        )
      }
      intro={data && words.replayHint}
    >
      <Failure error={replay.error} />
      {isMissing ? (
        <Empty icon="search">
          <p>{words.notFound}</p>
          <ButtonLink href={linkTo('webhooks', 'deliveries')}>{words.back}</ButtonLink>
        </Empty>
      ) : (
        <Failure error={error} onRetry={reload} title={shell.notLoaded} />
      )}
      {data === undefined && error === undefined && <Skeleton rows={5} />}
      {data && <Details delivery={data} session={session} />}
    </Page>
  );
};

const Details = ({ delivery, session }: { delivery: Delivery; session: Session }) => {
  const { event_id, type, contact, message_id, reference, url, attempt, started, duration_ms, next_attempt } = delivery;
  const { status, status_code, error, response } = delivery;
  const cause = causeOf(status_code === undefined ? error : `status_${status_code}`);
  return (
    <>
      <Section title={words.outcome} actions={<ResultChip delivery={delivery} />}>
        <div class="parts">
          {status === 'failed' && (
            <Notice tone="bad" title={cause.text}>
              {cause.remedy}
            </Notice>
          )}
          <Facts
            facts={[
              [texts.deliveries.columns.when, <Time key="when" at={started} as="when" />],
              duration_ms !== undefined && [texts.deliveries.columns.duration, milliseconds(duration_ms)],
              [words.attempt, attempt],
              [
                words.next,
                next_attempt !== undefined ? (
                  <Time key="next" at={next_attempt} as="when" />
                ) : status === 'failed' ? (
                  words.none
                ) : (
                  words.done
                ),
              ],
              [words.event, texts.deliveries.types[type]],
              [words.eventId, <Id key="id" id={event_id} label={words.copyId} />],
              contact !== undefined && [texts.deliveries.columns.user, userOf(contact)],
              reference !== undefined && [texts.deliveries.reference, reference],
              message_id !== undefined &&
                session.may('listLogs') && [
                  words.message,
                  <a key="message" href={linkTo('messages', message_id)}>
                    {words.showMessage}
                  </a>,
                ],
            ]}
          />
        </div>
      </Section>
      <Section title={words.request}>
        <div class="parts">
          <Code
            label={words.request}
            text={[`POST ${url ?? ''}`, 'content-type: application/json', `webhook-id: ${event_id}`].join('\n')}
          />
          <p class="quiet">{words.requestNote}</p>
        </div>
      </Section>
      <Section title={words.response}>
        <div class="parts">
          {status_code === undefined ? (
            <p>{words.noResponse}</p>
          ) : (
            <>
              <p>
                <code>{status_code}</code>
              </p>
              {response === undefined || response === '' ? (
                <p>{words.noBody}</p>
              ) : (
                <>
                  <Code label={words.response} text={response} />
                  <p class="quiet">{words.responseNote}</p>
                </>
              )}
            </>
          )}
        </div>
      </Section>
    </>
  );
};
