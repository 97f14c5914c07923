/** One request: what the person decided, until when, and what is to do when a consent has ended. */
import { useEffect, useState } from 'preact/hooks';
import { Icon } from '../../web/icons.tsx';
import { Chip, Dialog, Empty, Notice, Skeleton, type Tone } from '../../web/parts.tsx';
import { spacedNumber, Time } from '../../web/text.tsx';
import { useToast } from '../../web/toast.tsx';
import { type BodyFrom, call } from '../client.ts';
import { linkTo } from '../router.ts';
import { Failure } from '../shell/failure.tsx';
import { ButtonLink, Facts, Id, Page, Section, Table } from '../shell/page.tsx';
import { useAction, useCall } from '../use-call.ts';
import { people } from '../words/people.ts';
import { shell } from '../words/shell.ts';
import { type Receipt, ReceiptTable } from './receipts.tsx';
import { outcomeOf, type Request } from './requests.ts';
import { useRequest } from './use-request.ts';

const words = people.one;

type Property = Request['data'][number];
type Results = BodyFrom<'fetchUserData'>['results'];

interface RequestProps {
  id: string;
  /** When it was made, if the address has it. */
  asked: string | undefined;
}

export const OneRequest = ({ id, asked }: RequestProps) => {
  const { request, error, isGone, isListing, reload } = useRequest(id, asked);
  const back = { href: linkTo('people'), label: people.back };
  if (isGone) {
    return (
      <Page title={words.untitled} back={back}>
        <Empty icon="search">
          <p>{words.gone}</p>
          <ButtonLink href={linkTo('people')}>{words.toList}</ButtonLink>
        </Empty>
      </Page>
    );
  }
  const { listed } = request ?? {};
  const ended = request?.data.filter(isEnded) ?? [];
  const receipts = useReceipts(id, request);
  const owed = ended.filter(({ property }) => !isDeleted(property, receipts));
  return (
    <Page
      title={listed ? words.title(spacedNumber(listed.phone_number)) : words.untitled}
      back={back}
      intro={listed && <q dir="auto">{listed.reason}</q>}
      actions={request && <Outcome request={request} />}
    >
      <Failure error={error} onRetry={reload} title={shell.notLoaded} />
      {request === undefined && error === undefined && <Skeleton rows={6} />}
      {isListing && <Notice tone="plain">{words.listing}</Notice>}
      {request && !listed && !isListing && <Notice tone="plain">{words.limited}</Notice>}
      {owed.length > 0 && <Ended id={id} ended={owed} mayBeConfirmed={receipts === undefined} />}
      {ended.length > 0 && owed.length === 0 && <Confirmed />}
      {request && <Properties id={id} request={request} />}
      {receipts && <Receipts receipts={receipts} />}
      {request && <Details id={id} request={request} />}
    </Page>
  );
};

const isEnded = ({ status }: Property): boolean => status === 'withdrawn' || status === 'expired';

const Outcome = ({ request }: { request: Request }) => {
  const { text, tone } = outcomeOf(request);
  return (
    <span role="status">
      <Chip tone={tone}>{text}</Chip>
    </span>
  );
};

const tones: Record<NonNullable<Property['status']>, Tone> = {
  approved: 'ok',
  denied: 'plain',
  unavailable: 'plain',
  withdrawn: 'warn',
  expired: 'warn',
};

/** What was asked for. Values are read when they are to be shown, and kept nowhere else. */
const Properties = ({ id, request: { status, data, listed } }: { id: string; request: Request }) => {
  const [values, setValues] = useState<Results>();
  const { run, busy, error } = useAction(async () => {
    const { body } = await call('fetchUserData', { path: { id } });
    setValues(body.results);
  });
  const hasValues = data.some((one) => one.status === 'approved');
  return (
    <Section
      title={words.properties}
      actions={
        hasValues && (
          <button type="button" disabled={busy} onClick={() => (values ? setValues(undefined) : run())}>
            <Icon name={values ? 'hidden' : 'eye'} />
            {busy ? words.showing : values ? words.hide : words.show}
          </button>
        )
      }
    >
      <Failure error={error} />
      {status === 'pending' && <p class="quiet-text properties-note">{words.waiting}</p>}
      {values && <p class="quiet properties-note">{words.personal}</p>}
      <Table
        caption={words.propertiesCaption}
        items={data}
        keyOf={({ property }) => property}
        columns={[
          {
            title: words.property,
            kind: 'title',
            cell: ({ property, reason }) => (
              <div class="asked-for">
                <span>
                  <strong>{people.nameOf(property)}</strong>{' '}
                  {listed?.data.some((one) => one.property === property && one.required) && (
                    <Chip tone="plain">{people.required}</Chip>
                  )}
                </span>
                {reason && (
                  <q class="quiet" dir="auto">
                    {reason}
                  </q>
                )}
              </div>
            ),
          },
          {
            title: words.decision,
            cell: (one) =>
              one.status === undefined ? (
                <Chip tone="business">{people.result.asked}</Chip>
              ) : (
                <Chip tone={tones[one.status]}>{people.result[one.status]}</Chip>
              ),
          },
          { title: words.value, cell: (one) => <Value property={one} values={values} /> },
          { title: words.consent, cell: (one) => <Consent property={one} /> },
        ]}
      />
    </Section>
  );
};

const Value = ({ property: { property, status }, values }: { property: Property; values: Results | undefined }) => {
  if (status === 'withdrawn' || status === 'expired') return <span class="quiet">{words.removed}</span>;
  if (status !== 'approved') {
    return <span class="quiet">{status === 'unavailable' ? words.noValue : words.undecided}</span>;
  }
  const result = values?.[property];
  if (result?.status !== 'approved') {
    return (
      <span class="masked">
        <span aria-hidden="true">{words.dots}</span>
        <span class="unseen">{words.hidden}</span>
      </span>
    );
  }
  const source = words.source[result.source];
  return (
    <div class="asked-for">
      <span dir="auto">{result.value}</span>
      {source && <span class="quiet">{source}</span>}
    </div>
  );
};

/** Until when the value may be used, or when the consent has ended. */
const Consent = ({ property: { status, timestamp, valid_until } }: { property: Property }) => {
  if (status === 'approved') {
    if (valid_until === undefined) return <>{words.endless}</>;
    return (
      <>
        {words.until}
        <Time at={valid_until} as="date" />
      </>
    );
  }
  if ((status !== 'withdrawn' && status !== 'expired') || timestamp === undefined)
    return <span class="quiet">{words.undecided}</span>;
  return (
    <>
      {status === 'withdrawn' ? words.withdrawnOn : words.expiredOn}
      <Time at={timestamp} as="when" />
    </>
  );
};

/** Milliseconds after which receipts are read again: they appear within seconds. */
const RECEIPTS_MS = 10_000;

/** The receipts of a request; `undefined` while they are unknown, as those of a request that is no longer stored. */
const useReceipts = (id: string, request: Request | undefined): Receipt[] | undefined => {
  const { phone_number, created } = request?.listed ?? {};
  const { data, ready, reload } = useCall(
    'listReceipts',
    phone_number === undefined ? undefined : { query: { phone_number, start: `${created}Z`, limit: '100' } },
    RECEIPTS_MS,
  );
  const decisions = JSON.stringify(request?.data);
  useEffect(() => reload(), [decisions, reload]);
  return ready ? (data ?? []).filter(({ requestId }) => requestId === id) : undefined;
};

/** Whether the deletion of a property was confirmed. */
const isDeleted = (property: string, receipts: Receipt[] | undefined): boolean =>
  receipts?.some(({ event, properties }) => event === 'deleted' && properties.includes(property)) ?? false;

const Receipts = ({ receipts }: { receipts: Receipt[] }) => (
  <Section title={people.receipts.ofRequest}>
    {receipts.length === 0 ? <p class="quiet">{people.receipts.none}</p> : <ReceiptTable receipts={receipts} />}
  </Section>
);

const Confirmed = () => (
  <Notice tone="ok" title={words.confirmedTitle}>
    <p>{words.confirmedText}</p>
  </Notice>
);

/** What is to do for consents that have ended. Of a request that is no longer stored, it is unknown what was confirmed. */
const Ended = ({ id, ended, mayBeConfirmed }: { id: string; ended: Property[]; mayBeConfirmed: boolean }) => {
  const [asking, setAsking] = useState(false);
  /** The ended consents when the deletion was confirmed. */
  const [confirmed, setConfirmed] = useState<string>();
  const names = people.namesOf(ended.map(({ property }) => property));
  if (confirmed === names) return <Confirmed />;
  return (
    <>
      <Notice tone="warn" title={words.endedTitle(names)}>
        <p>
          {words.ended}
          {mayBeConfirmed && ` ${words.mayBeConfirmed}`}
        </p>
        <p>
          <button type="button" onClick={() => setAsking(true)}>
            {words.confirm}
          </button>
        </p>
      </Notice>
      {asking && (
        <ConfirmDialog
          id={id}
          names={names}
          onClose={() => setAsking(false)}
          onConfirmed={() => {
            setAsking(false);
            setConfirmed(names);
          }}
        />
      )}
    </>
  );
};

interface ConfirmProps {
  id: string;
  names: string;
  onClose: () => void;
  onConfirmed: () => void;
}

const ConfirmDialog = ({ id, names, onClose, onConfirmed }: ConfirmProps) => {
  const toast = useToast();
  const { run, busy, error } = useAction(async () => {
    await call('acknowledgeDeletion', { path: { request_id: id } });
    toast(words.confirmed);
    onConfirmed();
  });
  return (
    <Dialog
      title={words.confirmTitle}
      onClose={onClose}
      close={words.notYetDeleted}
      actions={
        <button type="button" class="primary" disabled={busy} onClick={() => run()}>
          {busy ? words.confirming : words.allDeleted}
        </button>
      }
    >
      <p>{words.confirms(names)}</p>
      <p>{words.recorded}</p>
      <Failure error={error} />
    </Dialog>
  );
};

const Details = ({ id, request: { listed } }: { id: string; request: Request }) => (
  <Section title={words.details}>
    <Facts
      facts={[
        listed && [words.asked, <Time key="asked" at={listed.created} as="when" />],
        listed && [
          words.answered,
          listed.completed === undefined ? words.notYet : <Time key="answered" at={listed.completed} as="when" />,
        ],
        listed && [
          words.validity,
          listed.valid_days === undefined ? words.endless : words.validDays(listed.valid_days),
        ],
        listed?.reference !== undefined && [words.reference, listed.reference],
        [words.id, <Id key="id" id={id} label={words.copyId} />],
      ]}
    />
  </Section>
);
