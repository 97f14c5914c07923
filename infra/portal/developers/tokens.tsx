/** The tokens of the account: which there are, and replacing and revoking them. */
import { useState } from 'preact/hooks';
import { present } from '../../web/clock.ts';
import { Icon } from '../../web/icons.tsx';
import { Chip, Dialog, Skeleton } from '../../web/parts.tsx';
import { dateOf, instant, Time } from '../../web/text.tsx';
import { useToast } from '../../web/toast.tsx';
import { type BodyFrom, call } from '../client.ts';
import { linkTo } from '../router.ts';
import type { Session } from '../session.ts';
import { Once } from '../shell/code.tsx';
import { Failure } from '../shell/failure.tsx';
import { ButtonLink, Section, Select, Table } from '../shell/page.tsx';
import { useAction, useCall } from '../use-call.ts';
import { developers as texts } from '../words/developers.ts';
import { shell } from '../words/shell.ts';

type Token = BodyFrom<'listTokens'>[number];

const words = texts.tokens;

/** Hours for which a replaced token still works. */
const OVERLAPS = [0, 1, 24, 72, 168] as const;

export const CreateTokenLink = () => (
  <ButtonLink href={linkTo('developers', 'new')} icon="plus" primary>
    {words.create}
  </ButtonLink>
);

/** Whether it is the token of the session: the API tells its time and its label, and not its id. */
const isOfSession = (token: Token, { token: own, info }: Session): boolean =>
  token.created === info.created && token.last_four === own.slice(-4);

const hasEnded = ({ revoked, expires }: Token): boolean =>
  revoked !== undefined || (expires !== null && instant(expires).getTime() <= present());

export const Tokens = ({ session }: { session: Session }) => {
  const { data, error, reload } = useCall('listTokens', {});
  const [showsEnded, setShowsEnded] = useState(false);
  const [asked, setAsked] = useState<{ about: 'rotate' | 'revoke'; token: Token }>();
  const [issued, setIssued] = useState<string>();
  const newestFirst = data?.toReversed() ?? [];
  const ended = newestFirst.filter(hasEnded);
  const close = () => setAsked(undefined);
  return (
    <Section title={texts.tabs.tokens}>
      <p class="prose">{words.note}</p>
      <Failure error={error} onRetry={reload} title={shell.notLoaded} />
      {data === undefined && error === undefined && <Skeleton rows={4} />}
      {data && (
        <TokenTable
          caption={words.caption}
          tokens={newestFirst.filter((token) => !hasEnded(token))}
          session={session}
          onAsk={(about, token) => setAsked({ about, token })}
        />
      )}
      {ended.length > 0 && (
        <button type="button" class="more" aria-expanded={showsEnded} onClick={() => setShowsEnded(!showsEnded)}>
          {showsEnded ? words.hideEnded : words.showEnded(ended.length)}
        </button>
      )}
      {showsEnded && <TokenTable caption={words.endedCaption} tokens={ended} session={session} />}
      {asked?.about === 'rotate' && (
        <Rotate
          token={asked.token}
          isOwn={isOfSession(asked.token, session)}
          onClose={close}
          onIssued={(token) => {
            close();
            setIssued(token);
            reload();
          }}
        />
      )}
      {asked?.about === 'revoke' && (
        <Revoke
          token={asked.token}
          isOwn={isOfSession(asked.token, session)}
          onClose={close}
          onRevoked={() => {
            close();
            reload();
          }}
        />
      )}
      {issued !== undefined && <IssuedToken token={issued} onClose={() => setIssued(undefined)} />}
    </Section>
  );
};

interface TokenTableProps {
  caption: string;
  tokens: Token[];
  session: Session;
  /** Missing for tokens that do not work any more. */
  onAsk?: (about: 'rotate' | 'revoke', token: Token) => void;
}

const TokenTable = ({ caption, tokens, session, onAsk }: TokenTableProps) => {
  const mayReplace = ({ permissions }: Token) =>
    permissions.every((one) => (session.info.permissions as string[]).includes(one));
  return (
    <Table
      caption={caption}
      items={tokens}
      keyOf={({ id }) => id}
      columns={[
        {
          title: words.columns.label,
          cell: (token) => (
            <div class="token-name">
              <strong>{token.label}</strong>
              <code class="quiet">{words.end(token.last_four)}</code>
              {isOfSession(token, session) && <Chip tone="plain">{words.thisSession}</Chip>}
            </div>
          ),
        },
        {
          title: words.columns.may,
          cell: ({ permissions }) => (
            <ul class="permissions">
              {permissions.map((one) => (
                <li key={one}>
                  <code>{one}</code>
                </li>
              ))}
            </ul>
          ),
        },
        { title: words.columns.created, cell: ({ created }) => <Time at={created} as="date" /> },
        {
          title: words.columns.ends,
          cell: ({ revoked, expires, ...token }) => {
            if (revoked !== undefined) return words.revoked(dateOf(revoked));
            if (expires === null) return <span class="whole">{words.forever}</span>;
            if (hasEnded({ ...token, expires })) return words.expired(dateOf(expires));
            return <Time at={expires} as="when" />;
          },
        },
        ...(onAsk
          ? [
              {
                title: words.columns.actions,
                cell: (token: Token) => (
                  <div class="token-actions">
                    {session.may('rotateToken') && (
                      <button
                        type="button"
                        disabled={!mayReplace(token)}
                        title={mayReplace(token) ? undefined : words.more}
                        aria-label={words.rotateNamed(token.label)}
                        onClick={() => onAsk('rotate', token)}
                      >
                        <Icon name="retry" />
                        {words.rotate}
                      </button>
                    )}
                    {session.may('revokeToken') && (
                      <button
                        type="button"
                        class="danger"
                        aria-label={words.revokeNamed(token.label)}
                        onClick={() => onAsk('revoke', token)}
                      >
                        <Icon name="revoked" />
                        {words.revoke}
                      </button>
                    )}
                  </div>
                ),
              },
            ]
          : []),
      ]}
    />
  );
};

interface RotateProps {
  token: Token;
  isOwn: boolean;
  onClose: () => void;
  onIssued: (token: string) => void;
}

const Rotate = ({ token: { id, label }, isOwn, onClose, onIssued }: RotateProps) => {
  const [hours, setHours] = useState(24);
  const rotate = useAction(async () => {
    const { body } = await call('rotateToken', { path: { token_id: id }, body: { overlap_hours: hours } });
    onIssued(body.token);
  });
  return (
    <Dialog
      title={texts.rotate.title(label)}
      close={shell.cancel}
      onClose={onClose}
      actions={
        <button type="button" class="primary" disabled={rotate.busy} onClick={() => rotate.run()}>
          {rotate.busy ? texts.rotate.working : texts.rotate.run}
        </button>
      }
    >
      <p>{texts.rotate.text}</p>
      <Select
        label={texts.rotate.overlap}
        {...(isOwn && { hint: texts.rotate.own })}
        value={hours}
        onValue={(value) => setHours(Number(value))}
      >
        {OVERLAPS.map((value) => (
          <option key={value} value={value}>
            {texts.rotate.overlaps[value]}
          </option>
        ))}
      </Select>
      <Failure error={rotate.error} />
    </Dialog>
  );
};

interface RevokeProps {
  token: Token;
  isOwn: boolean;
  onClose: () => void;
  onRevoked: () => void;
}

const Revoke = ({ token: { id, label }, isOwn, onClose, onRevoked }: RevokeProps) => {
  const toast = useToast();
  const revoke = useAction(async () => {
    await call('revokeToken', { path: { token_id: id } });
    toast(texts.revoke.done);
    onRevoked();
  });
  return (
    <Dialog
      title={texts.revoke.title(label)}
      close={shell.cancel}
      onClose={onClose}
      actions={
        <button type="button" class="danger" disabled={revoke.busy} onClick={() => revoke.run()}>
          {revoke.busy ? texts.revoke.working : texts.revoke.run}
        </button>
      }
    >
      <p>{texts.revoke.text}</p>
      {isOwn && (
        <p>
          <strong>{texts.revoke.own}</strong>
        </p>
      )}
      <Failure error={revoke.error} />
    </Dialog>
  );
};

export const IssuedToken = ({ token, onClose }: { token: string; onClose: () => void }) => (
  <Once
    title={texts.issued.title}
    secret={token}
    copy={texts.issued.copy}
    warning={texts.issued.once}
    onClose={onClose}
  >
    {texts.issued.use}
  </Once>
);
