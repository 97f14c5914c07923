/** The form of a new campaign: who gets what, and when; then the check, and the button that sends it. */
import { useMemo, useState } from 'preact/hooks';
import { present } from '../../web/clock.ts';
import { Dialog, Empty } from '../../web/parts.tsx';
import { linkTo } from '../router.ts';
import type { Session } from '../session.ts';
import { Page } from '../shell/page.tsx';
import { useCall } from '../use-call.ts';
import { campaigns } from '../words/campaigns.ts';
import { Check, type Checked } from './check.tsx';
import { isEmpty } from './draft.ts';
import { Handover } from './handover.tsx';
import { discard, useMemory } from './memory.ts';
import { findFaults, writtenIn } from './message.ts';
import { columnsOf, type People, peopleInTable, peopleInText } from './people.ts';
import { Preview } from './preview.tsx';
import { What } from './what.tsx';
import { When } from './when.tsx';
import { Who } from './who.tsx';

const words = campaigns.write;

const NOBODY: People = { people: [], repeated: [], invalid: [], columns: [] };

export const Write = ({ session }: { session: Session }) => {
  const { draft, sending, rejection } = useMemory(session.info.account);
  const [person, setPerson] = useState(0);
  /** Whether the user has tried to go on: then everything that is missing is shown. */
  const [tried, setTried] = useState(false);
  const [checked, setChecked] = useState<Checked>();
  const [discarding, setDiscarding] = useState(false);
  const account = useCall('readConfiguration', session.may('readConfiguration') ? {} : undefined);
  const { from, typed, source, country } = draft;
  const people = useMemo(() => {
    if (from === 'typed') return peopleInText(typed, country);
    if (source === undefined) return NOBODY;
    return peopleInTable(
      source.table,
      source,
      columnsOf(source.table, source.hasHeader, campaigns.who.columnNumber),
      country,
    );
  }, [from, typed, source, country]);
  const written = useMemo(
    () => writtenIn(draft, people.columns),
    [draft.text, draft.replies, draft.attachment, people],
  );
  // The clock moves on: a time that was far enough ahead is not any more.
  const faults = findFaults(draft, written, people, present());
  const shown = people.people[Math.min(person, Math.max(people.people.length - 1, 0))];

  const back = { href: linkTo('campaigns'), label: words.back };
  if (!session.may('sendMessage')) {
    return (
      <Page title={words.title} back={back}>
        <Empty icon="lock">
          <p>{campaigns.list.notAllowed}</p>
        </Empty>
      </Page>
    );
  }
  if (sending) {
    return (
      <Page title={sending.name} back={back}>
        <Handover sending={sending} />
      </Page>
    );
  }
  const part = { draft, people, written, faults, tried };
  return (
    <Page
      title={words.title}
      back={back}
      actions={
        !isEmpty(draft) && (
          <button type="button" onClick={() => setDiscarding(true)}>
            {words.discard}
          </button>
        )
      }
    >
      <div class="steps">
        <Who {...part} onShow={setPerson} />
        <What {...part} onShow={setPerson} />
        <Preview
          draft={draft}
          written={written}
          people={people.people}
          place={Math.min(person, Math.max(people.people.length - 1, 0))}
          onPlace={setPerson}
          business={account.data?.configuration.name ?? session.info.account}
          avatar={account.data?.configuration.avatar ?? undefined}
        />
        <When {...part} hours={account.data?.configuration.sending_hours} known={account.data !== undefined} />
        <Check
          {...part}
          session={session}
          person={shown}
          onTry={() => setTried(true)}
          checked={checked}
          onChecked={setChecked}
          rejection={rejection}
        />
      </div>
      {discarding && (
        <Dialog
          title={words.discardTitle}
          close={words.keep}
          onClose={() => setDiscarding(false)}
          actions={
            <button
              type="button"
              class="danger"
              onClick={() => {
                discard();
                setTried(false);
                setDiscarding(false);
              }}
            >
              {words.discard}
            </button>
          }
        >
          <p>{words.discardBody}</p>
        </Dialog>
      )}
    </Page>
  );
};
