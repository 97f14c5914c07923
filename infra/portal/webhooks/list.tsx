/** The webhooks of the account, how each works, and what can be done with it. */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Icon } from '../../web/icons.tsx';
import { Dialog, Empty, Notice, Skeleton } from '../../web/parts.tsx';
import { Time } from '../../web/text.tsx';
import { useToast } from '../../web/toast.tsx';
import { ApiError, type BodyFrom, call } from '../client.ts';
import { linkTo } from '../router.ts';
import type { Session } from '../session.ts';
import { Once } from '../shell/code.tsx';
import { Failure } from '../shell/failure.tsx';
import { ButtonLink, Facts, Page, Section } from '../shell/page.tsx';
import { useAction, useCall } from '../use-call.ts';
import { causeOf } from '../words/causes.ts';
import { shell } from '../words/shell.ts';
import { eventWords, webhooks as words } from '../words/webhooks.ts';
import { PlatformInUse, StatusChip, usePlatform } from './platform.tsx';

type Webhook = NonNullable<BodyFrom<'listWebhooks'>>[number];

/** Milliseconds between looks at the status. */
const EVERY_MS = 10_000;

export const WebhookList = ({ session, tabs }: { session: Session; tabs: ComponentChildren }) => {
  const [hasSome, setSome] = useState(false);
  const { data, error, loading, reload } = useCall('listWebhooks', {}, hasSome && EVERY_MS);
  useEffect(() => setSome(data !== undefined), [data]);
  const platform = usePlatform(session, EVERY_MS);
  const isInUse = error instanceof ApiError && error.code === 'platform_in_use';
  const isEmpty = data === undefined && error === undefined && !loading;
  return (
    <Page
      title={shell.views.webhooks}
      intro={words.intro}
      actions={
        data &&
        !isInUse && (
          <ButtonLink href={linkTo('webhooks', 'new')} icon="plus" primary>
            {words.add}
          </ButtonLink>
        )
      }
    >
      {tabs}
      {isInUse ? (
        <PlatformInUse platform={platform} />
      ) : (
        <Failure error={error} onRetry={reload} title={shell.notLoaded} />
      )}
      {data?.every(({ status }) => status === 'working') && platform && platform.pending_messages > 0 && (
        <Notice tone="warn" title={words.waiting.title(platform.pending_messages, platform.more_pending)}>
          <p>{words.waiting.text}</p>
          {session.may('listDeliveries') && (
            <p>
              <a href={linkTo('webhooks', 'deliveries', { status: 'failed' })}>{words.waiting.show}</a>
            </p>
          )}
        </Notice>
      )}
      {data === undefined && loading && <Skeleton rows={4} />}
      {isEmpty && (
        <Empty icon="webhook">
          <p>{words.empty}</p>
          <ButtonLink href={linkTo('webhooks', 'new')} icon="plus" primary>
            {words.add}
          </ButtonLink>
        </Empty>
      )}
      {!isInUse &&
        data?.map((webhook) => (
          <WebhookCard
            key={webhook.id}
            webhook={webhook}
            session={session}
            onChange={reload}
            deletion={
              <>
                {data.length === 1 && <p>{words.deleteLast}</p>}
                {platform && platform.pending_messages > 0 && (
                  <p>{words.deleteWaiting(platform.pending_messages, platform.more_pending)}</p>
                )}
              </>
            }
          />
        ))}
    </Page>
  );
};

interface CardProps {
  webhook: Webhook;
  session: Session;
  onChange: () => void;
  /** What its dialog says besides about a deletion. */
  deletion: ComponentChildren;
}

const WebhookCard = ({ webhook, session, onChange, deletion }: CardProps) => {
  const { id, url, status, types, description, version, updated } = webhook;
  const [asked, setAsked] = useState<'rotate' | 'delete'>();
  const [secret, setSecret] = useState<string>();
  const [sent, setSent] = useState<string>();
  const toast = useToast();
  const path = { webhook_id: id };
  const test = useAction(async () => {
    setSent(undefined);
    setSent((await call('testWebhook', { path })).body.event_id);
  });
  const enable = useAction(async (said: string) => {
    await call('updateWebhook', { path, body: {} });
    toast(said);
    onChange();
  });
  const rotate = useAction(async () => {
    setSecret((await call('rotateWebhookSecret', { path })).body.secret);
    setAsked(undefined);
  });
  const remove = useAction(async () => {
    await call('deleteWebhook', { path });
    setAsked(undefined);
    toast(words.deleted);
    onChange();
  });
  const cause = causeOf(webhook.cause);
  // What it accepted before says nothing any more.
  useEffect(() => void (status !== 'working' && setSent(undefined)), [status]);
  const buttons = {
    test: (
      <button key="test" type="button" disabled={test.busy} onClick={() => test.run()}>
        <Icon name="send" />
        {words.test}
      </button>
    ),
    change: (
      <ButtonLink key="change" href={linkTo('webhooks', id)} icon="pen">
        {words.change}
      </ButtonLink>
    ),
    rotate: (
      <button key="rotate" type="button" onClick={() => setAsked('rotate')}>
        <Icon name="key" />
        {words.rotate}
      </button>
    ),
  };
  const fix = status === 'failing' ? cause.fix : undefined;
  return (
    <Section title={url} actions={<StatusChip status={status} />}>
      <div class="parts webhook">
        {description !== undefined && <p class="quiet">{description}</p>}
        {status !== 'working' && (
          <Notice tone={status === 'failing' ? 'bad' : 'warn'} title={cause.text}>
            {cause.remedy && <p>{cause.remedy}</p>}
            <p class="quiet-facts">
              {webhook.failing_since !== undefined && (
                <span>
                  {status === 'failing' ? words.failingSince : words.disabledSince}{' '}
                  <Time at={webhook.failing_since} as="when" />
                </span>
              )}
              {status === 'failing' && webhook.last_failure !== undefined && (
                <span>
                  {words.lastFailure} <Time at={webhook.last_failure} as="when" />
                </span>
              )}
            </p>
            <div class="buttons">
              {fix && buttons[fix]}
              <button
                type="button"
                class={fix ? '' : 'primary'}
                disabled={enable.busy}
                onClick={() => enable.run(status === 'disabled' ? words.enabled : words.retried)}
              >
                <Icon name="retry" />
                {status === 'disabled' ? words.enable : words.retry}
              </button>
            </div>
          </Notice>
        )}
        <Facts
          facts={[
            [
              words.events,
              types === undefined ? (
                words.allEvents
              ) : (
                <ul key="types">
                  {types.map((type) => (
                    <li key={type}>{eventWords[type]}</li>
                  ))}
                </ul>
              ),
            ],
            version === 1 && [words.version, words.versions[version]],
            [words.changed, <Time key="changed" at={updated} as="when" />],
          ]}
        />
        <Failure error={test.error ?? enable.error} />
        {sent !== undefined && (
          <TestOutcome key={sent} webhook={id} event={sent} mayRead={session.may('listDeliveries')} onEnd={onChange} />
        )}
        <div class="buttons">
          {buttons.test}
          {fix !== 'change' && buttons.change}
          {fix !== 'rotate' && buttons.rotate}
          {session.may('listDeliveries') && (
            <ButtonLink href={linkTo('webhooks', 'deliveries', { webhook: id })} icon="list">
              {words.deliveriesOf}
            </ButtonLink>
          )}
          <button type="button" class="danger" onClick={() => setAsked('delete')}>
            <Icon name="trash" />
            {words.delete}
          </button>
        </div>
      </div>
      {asked === 'rotate' && (
        <Dialog
          title={words.rotateTitle}
          close={shell.cancel}
          onClose={() => setAsked(undefined)}
          actions={
            <button type="button" class="primary" disabled={rotate.busy} onClick={() => rotate.run()}>
              {words.rotate}
            </button>
          }
        >
          {words.rotateText.map((line) => (
            <p key={line}>{line}</p>
          ))}
          <Failure error={rotate.error} />
        </Dialog>
      )}
      {asked === 'delete' && (
        <Dialog
          title={words.deleteTitle}
          close={shell.cancel}
          onClose={() => setAsked(undefined)}
          actions={
            <button type="button" class="danger" disabled={remove.busy} onClick={() => remove.run()}>
              {words.delete}
            </button>
          }
        >
          <p>{words.deleteText(url)}</p>
          {deletion}
          <Failure error={remove.error} />
        </Dialog>
      )}
      {secret !== undefined && (
        <Once
          title={words.secretTitle}
          secret={secret}
          copy={words.copySecret}
          warning={words.secretOnce}
          onClose={() => {
            setSecret(undefined);
            onChange();
          }}
        >
          {words.rotatedUse}
        </Once>
      )}
    </Section>
  );
};

/** Milliseconds between looks at the deliveries, and how many looks are made. */
const LOOK_MS = 1_000;
const MOST_LOOKS = 30;

interface OutcomeProps {
  webhook: string;
  event: string;
  mayRead: boolean;
  onEnd: () => void;
}

/** What became of a test event: looks at the deliveries until it is there. */
const TestOutcome = ({ webhook, event, mayRead, onEnd }: OutcomeProps) => {
  const [looks, setLooks] = useState(0);
  const [found, setFound] = useState<NonNullable<BodyFrom<'listDeliveries'>>[number]>();
  const isLooking = mayRead && found === undefined && looks < MOST_LOOKS;
  const { data, loading, error } = useCall(
    'listDeliveries',
    mayRead ? { query: { webhook_id: webhook, limit: '20' } } : undefined,
    isLooking && LOOK_MS,
  );
  useEffect(() => {
    if (loading) return;
    setLooks((before) => before + 1);
    const attempt = data?.find(({ event_id }) => event_id === event);
    if (attempt === undefined) return;
    setFound(attempt);
    onEnd();
  }, [loading]);
  if (!mayRead) return <Notice tone="plain">{words.testing.sent}</Notice>;
  if (found === undefined) {
    if (error !== undefined) return <Failure error={error} />;
    return <Notice tone="plain">{isLooking ? words.testing.sending : words.testing.late}</Notice>;
  }
  const { status, status_code, error: code, duration_ms } = found;
  const isOk = status === 'succeeded';
  const cause = causeOf(status_code === undefined ? code : `status_${status_code}`);
  return (
    <Notice tone={isOk ? 'ok' : 'bad'} title={isOk ? words.testing.ok(status_code ?? 200, duration_ms) : cause.text}>
      {!isOk && cause.remedy && <p>{cause.remedy}</p>}
      <p>
        <a href={linkTo('webhooks', 'deliveries', found.id)}>{words.testing.open}</a>
      </p>
    </Notice>
  );
};
