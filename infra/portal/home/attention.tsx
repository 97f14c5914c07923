/** What fails, with its cause, and where to fix it. */
import type { ComponentChildren } from 'preact';
import { present } from '../../web/clock.ts';
import { figure } from '../../web/figures.ts';
import { Icon } from '../../web/icons.tsx';
import { Chip, Skeleton } from '../../web/parts.tsx';
import { instant, Time } from '../../web/text.tsx';
import { ApiError, type BodyFrom } from '../client.ts';
import { linkTo } from '../router.ts';
import type { Session } from '../session.ts';
import { Failure } from '../shell/failure.tsx';
import { ButtonLink, Section } from '../shell/page.tsx';
import { startOfToday } from '../times.ts';
import { type Loaded, useCall } from '../use-call.ts';
import { causeOf, platformName } from '../words/causes.ts';
import { home } from '../words/home.ts';
import { explainReason } from '../words/outcomes.ts';
import { type Counts, type failures, sumOf } from './counts.ts';
import { EVERY, errorToShow } from './refresh.ts';

const words = home.attention;

interface Problem {
  key: string;
  tone: 'bad' | 'warn';
  title: string;
  text: ComponentChildren;
  fix?: { label: string; href: string };
}

/** A part of the account that is looked at, if the token may. */
interface Check {
  part: string;
  may: boolean;
  reads: Loaded<unknown>[];
}

interface AttentionProps {
  session: Session;
  today: Loaded<BodyFrom<'listJobs'>>;
  month: Loaded<BodyFrom<'listJobs'>>;
}

export const Attention = ({ session, today, month }: AttentionProps) => {
  const counts = sumOf(today.data);
  const failed = [
    useFailed('sending_failed', counts),
    useFailed('delivery_failed', counts),
    useFailed('reception_failed_http', counts),
  ];
  const configuration = useCall('readConfiguration', session.may('readConfiguration') ? {} : undefined, EVERY);
  const platform = configuration.data?.configuration.platform;
  // An account with RapidPro or Turn has no webhooks.
  const hasWebhooks = session.may('readConfiguration') ? platform?.name.startsWith('webhook') : true;
  const webhooks = useCall('listWebhooks', session.may('listWebhooks') && hasWebhooks ? {} : undefined, EVERY);
  const tokens = useCall('listTokens', session.may('listTokens') ? {} : undefined, EVERY);

  const isListed = webhooks.data !== undefined;
  const hasReceived = sumOf(month.data).received > 0;
  const problems: Problem[] = [
    ...webhookProblems(webhooks.data ?? [], platform ?? undefined),
    ...(configuration.ready ? platformProblems(platform ?? undefined, { session, isListed, hasReceived }) : []),
    ...failed.flatMap(({ problem }) => problem ?? []),
    ...tokenProblems(session, tokens.data ?? []),
  ].sort((a, b) => Number(b.tone === 'bad') - Number(a.tone === 'bad'));
  const hasNoWebhooks = webhooks.error instanceof ApiError && webhooks.error.code === 'platform_in_use';
  const all: Check[] = [
    { part: words.parts.messages, may: true, reads: [today, ...failed.flatMap(({ reads }) => reads)] },
    { part: words.parts.platform, may: session.may('readConfiguration'), reads: [configuration] },
    {
      part: words.parts.webhooks,
      may: session.may('listWebhooks') && hasWebhooks === true && !hasNoWebhooks,
      reads: [webhooks],
    },
    session.may('listTokens')
      ? { part: words.parts.tokens, may: true, reads: [tokens] }
      : { part: words.parts.token, may: true, reads: [] },
  ];
  const checks = all.filter(({ may }) => may);
  const isKnown = checks.every(({ reads }) => reads.every(({ ready, error }) => ready || error !== undefined));
  const checked = checks.filter(({ reads }) => reads.every(({ ready }) => ready)).map(({ part }) => part);
  const error = checks
    .flatMap(({ reads }) => reads)
    // The page itself shows an error of the counts.
    .filter((read) => read !== today)
    .map((read) => errorToShow(read))
    .find((one) => one !== undefined);
  const reload = () => {
    for (const { reads } of checks) for (const read of reads) read.reload();
  };
  return (
    <Section
      title={words.title}
      actions={isKnown && problems.length > 0 && <Chip tone="warn">{words.count(problems.length)}</Chip>}
    >
      <Failure error={error} onRetry={reload} title={words.notChecked} />
      {!isKnown ? (
        <Skeleton rows={1} />
      ) : problems.length > 0 ? (
        <ul class="problems">
          {problems.map(({ key, tone, title, text, fix }) => (
            <li key={key} class={tone}>
              <Icon name="alert" />
              <div>
                <h3>{title}</h3>
                {text}
              </div>
              {fix && <ButtonLink href={fix.href}>{fix.label}</ButtonLink>}
            </li>
          ))}
        </ul>
      ) : checked.length < checks.length ? (
        error === undefined && <p class="quiet">{words.notChecked}</p>
      ) : (
        <p class="all-fine">
          <Icon name="check" />
          <span>
            <strong>{words.fine}</strong> <span class="quiet">{words.checked(checked)}</span>
          </span>
        </p>
      )}
    </Section>
  );
};

/** Failed messages whose reasons are read. */
const REASONS = '200';

/** The messages of today that have failed in one way, by their reasons. What the business has stopped itself is none. */
const useFailed = (state: (typeof failures)[number], counts: Counts) => {
  const isAsked = counts[state] > 0;
  const loaded = useCall(
    'listLogs',
    isAsked ? { query: { state, start: startOfToday(), limit: REASONS } } : undefined,
    EVERY,
  );
  const entries = loaded.data ?? [];
  const reasons = new Map<string, number>();
  for (const { reason = 'unknown' } of entries) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  const own = reasons.get('cancelled') ?? 0;
  const isPart = entries.length < counts[state];
  const count = counts[state] - own;
  reasons.delete('cancelled');
  const problem: Problem | undefined =
    isAsked && loaded.ready && count > 0
      ? {
          key: state,
          tone: state === 'reception_failed_http' ? 'bad' : 'warn',
          title: words.failed[state](count),
          text: (
            <>
              {isPart && entries.length > 0 && <p>{words.failed.newest(entries.length)}</p>}
              <ul class="reasons">
                {[...reasons]
                  .sort(([, a], [, b]) => b - a)
                  .map(([reason, times]) => {
                    const { cause, fix } = explainReason(state, reason);
                    return (
                      <li key={reason}>
                        <strong>{figure(times)}</strong> {cause} {fix}
                      </li>
                    );
                  })}
              </ul>
            </>
          ),
          fix: { label: words.failed.show, href: linkTo('messages', { state, start: startOfToday() }) },
        }
      : undefined;
  return { reads: isAsked ? [loaded] : [], problem };
};

type Platform = NonNullable<BodyFrom<'readConfiguration'>['configuration']['platform']>;

const CauseText = ({ cause, since, more }: { cause: string | undefined; since: string | undefined; more?: string }) => {
  const { text, remedy } = causeOf(cause);
  return (
    <p>
      {text} {remedy}{' '}
      {since !== undefined && (
        <>
          {words.since} <Time at={since} as="when" />.{' '}
        </>
      )}
      {more}
    </p>
  );
};

const pendingOf = (platform: Platform | undefined): string | undefined =>
  platform !== undefined && platform.pending_messages > 0
    ? words.pending(platform.pending_messages, platform.more_pending)
    : undefined;

const webhookProblems = (
  webhooks: NonNullable<BodyFrom<'listWebhooks'>>,
  platform: Platform | undefined,
): Problem[] => {
  const broken = webhooks.filter(({ status }) => status !== 'working');
  return broken.map(({ id, url, description, status, cause, failing_since }): Problem => {
    const name = description ?? URL.parse(url)?.host ?? url;
    // What waits is counted for all webhooks together.
    const more = broken.length === 1 ? pendingOf(platform) : undefined;
    return {
      key: id,
      tone: 'bad',
      title: status === 'disabled' ? words.webhook.disabled(name) : words.webhook.failing(name),
      text: <CauseText cause={cause} since={failing_since} {...(more !== undefined && { more })} />,
      fix: { label: words.webhook.fix, href: linkTo('webhooks') },
    };
  });
};

interface PlatformContext {
  session: Session;
  /** Whether its webhooks are listed one by one. */
  isListed: boolean;
  hasReceived: boolean;
}

const platformProblems = (
  platform: Platform | undefined,
  { session, isListed, hasReceived }: PlatformContext,
): Problem[] => {
  const fix = session.may('listWebhooks')
    ? { label: words.webhook.fix, href: linkTo('webhooks') }
    : { label: words.platform.fix, href: linkTo('settings') };
  if (platform === undefined) {
    if (!hasReceived) return [];
    const text = (
      <p>
        {words.platform.noneCause} {words.platform.noneFix}
      </p>
    );
    return [{ key: 'platform', tone: 'bad', title: words.platform.none, text, fix }];
  }
  const name = platform.name.startsWith('webhook') ? words.platform.webhook : platformName(platform.name);
  const more = pendingOf(platform);
  if (platform.status === 'working') {
    if (more === undefined) return [];
    const text = (
      <p>
        {words.platform.waitingCause} {more}
      </p>
    );
    return [{ key: 'platform', tone: 'warn', title: words.platform.waiting(name), text, fix }];
  }
  if (isListed) return [];
  return [
    {
      key: 'platform',
      tone: 'bad',
      title: platform.status === 'disabled' ? words.platform.disabled(name) : words.platform.failing(name),
      text: <CauseText cause={platform.cause} since={platform.failing_since} {...(more !== undefined && { more })} />,
      fix,
    },
  ];
};

const DAY_MS = 86_400_000;
const SOON_MS = 14 * DAY_MS;
/** A token with a shorter life is a session, which is made anew. */
const SESSION_MS = 2 * DAY_MS;

const tokenProblems = ({ info, may }: Session, tokens: NonNullable<BodyFrom<'listTokens'>>): Problem[] => {
  const listed = may('listTokens') ? tokens : [{ ...info, id: '', revoked: undefined }];
  return listed.flatMap(({ id, label, created, expires, revoked }): Problem[] => {
    if (expires === null || revoked !== undefined) return [];
    const [start, end] = [instant(created).getTime(), instant(expires).getTime()];
    if (end < present() || end > present() + SOON_MS || end - start < SESSION_MS) return [];
    const isReplaced = tokens.some((other) => other.label === label && other.created > created && !other.revoked);
    const isOwn = label === info.label && created === info.created;
    return [
      {
        key: `token ${id}`,
        tone: 'warn',
        title: isOwn ? words.token.own(label) : words.token.other(label),
        text: (
          <p>
            {words.token.until} <Time at={expires} as="when" />.{' '}
            {isReplaced ? words.token.replaced : may('listTokens') ? words.token.fix : words.token.ownFix}
          </p>
        ),
        ...(may('listTokens') && { fix: { label: words.token.open, href: linkTo('developers') } }),
      },
    ];
  });
};
