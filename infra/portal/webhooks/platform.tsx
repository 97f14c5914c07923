/** Which chat platform receives the events, if it is none of the account's own webhooks. */
import { Chip, Notice } from '../../web/parts.tsx';
import { Time } from '../../web/text.tsx';
import type { BodyFrom } from '../client.ts';
import type { Session } from '../session.ts';
import { Facts, Section } from '../shell/page.tsx';
import { useCall } from '../use-call.ts';
import { causeOf, platformName } from '../words/causes.ts';
import { webhooks as words } from '../words/webhooks.ts';

type Platform = BodyFrom<'readConfiguration'>['configuration']['platform'];

/**
 * The platform of the account; `undefined` until it is known, or if the token may not read it.
 *
 * @param every - milliseconds after which it is read again. Default: it is read once
 */
export const usePlatform = (session: Session, every?: number): Platform | undefined =>
  useCall('readConfiguration', session.may('readConfiguration') ? {} : undefined, every).data?.configuration.platform;

export const nameOf = ({ name }: NonNullable<Platform>): string =>
  name === 'webhook' ? words.platform.webhook : platformName(name);

/** Says that an operator has connected a platform, so that there are no webhooks, and how that platform works. */
export const PlatformInUse = ({ platform }: { platform: Platform | undefined }) => {
  const name = platform ? nameOf(platform) : words.platform.unknown;
  return (
    <Section title={words.platform.title(name.charAt(0).toUpperCase() + name.slice(1))}>
      <p class="prose">{words.platform.text(name)}</p>
      {platform && (
        <>
          <Facts
            facts={[
              [words.platform.status, <StatusChip key="status" status={platform.status} />],
              [words.platform.waiting, words.platform.count(platform.pending_messages, platform.more_pending)],
              platform.failing_since !== undefined && [
                words.failingSince,
                <Time key="since" at={platform.failing_since} as="when" />,
              ],
            ]}
          />
          {platform.status !== 'working' && <Notice tone="bad">{causeOf(platform.cause).text}</Notice>}
        </>
      )}
    </Section>
  );
};

const tones = { working: 'ok', failing: 'bad', disabled: 'warn' } as const;

export const StatusChip = ({ status }: { status: keyof typeof tones }) => (
  <Chip tone={tones[status]}>{words.statuses[status]}</Chip>
);
