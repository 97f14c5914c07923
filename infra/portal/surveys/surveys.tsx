/** The view Surveys: the list. */
import { useEffect, useState } from 'preact/hooks';
import { figure } from '../../web/figures.ts';
import { Empty } from '../../web/parts.tsx';
import { Time } from '../../web/text.tsx';
import { type BodyFrom, call } from '../client.ts';
import { go, linkTo } from '../router.ts';
import { ButtonLink, List, Page, Section, Table, TextField } from '../shell/page.tsx';
import { usePages } from '../use-call.ts';
import type { ViewProps } from '../views.ts';
import { shell } from '../words/shell.ts';
import { surveys as words } from '../words/surveys.ts';
import { Audience } from './audience.tsx';
import { NewSurvey } from './new-survey.tsx';
import { Survey } from './survey.tsx';

type ListedSurvey = BodyFrom<'listProfilers'>[number];

export const Surveys = ({ route, session }: ViewProps) => {
  const [id] = route.rest;
  if (id === 'new') return <NewSurvey />;
  if (id === 'audience') return <Audience query={route.query} session={session} />;
  if (id !== undefined) return <Survey key={id} id={id} />;
  return <AllSurveys find={route.query.find ?? ''} />;
};

/** Surveys that are shown at first, and with each further page. Each one needs a request for its count. */
const STEP = 25;
/** The list has a search from so many surveys on. */
const SEARCHED = 8;

const AllSurveys = ({ find }: { find: string }) => {
  const pages = usePages('listProfilers', {});
  const [shown, setShown] = useState(STEP);
  const word = find.trim().toLowerCase();
  const isFound = ({ question, options }: ListedSurvey): boolean =>
    question.toLowerCase().includes(word) || options.some(({ option }) => option.includes(word));
  return (
    <Page
      title={shell.views.surveys}
      intro={words.intro}
      actions={
        <>
          <ButtonLink href={linkTo('surveys', 'audience')} icon="people">
            {words.countAudience}
          </ButtonLink>
          <ButtonLink href={linkTo('surveys', 'new')} icon="plus" primary>
            {words.create}
          </ButtonLink>
        </>
      }
    >
      <Section title={words.list.title}>
        <List
          pages={pages}
          empty={
            <Empty icon="survey">
              <p>{words.list.empty}</p>
              <ButtonLink href={linkTo('surveys', 'new')} icon="plus" primary>
                {words.create}
              </ButtonLink>
            </Empty>
          }
        >
          {(all) => {
            // The API returns the oldest one first. Its pages have 5 MB: only very long lists have several.
            const found = (pages.more ? all : all.toReversed()).filter(isFound);
            return (
              <>
                {(all.length >= SEARCHED || word !== '') && (
                  <div class="survey-search">
                    <TextField
                      label={words.list.find}
                      hint={words.list.findHint}
                      type="search"
                      value={find}
                      onValue={(value) => go(linkTo('surveys', { find: value }), { replace: true })}
                    />
                  </div>
                )}
                {found.length === 0 ? (
                  <Empty icon="search">
                    <p>{words.list.nothingFound(find)}</p>
                    <ButtonLink href={linkTo('surveys')}>{words.list.showAll}</ButtonLink>
                  </Empty>
                ) : (
                  <Rows surveys={found.slice(0, shown)} />
                )}
                {found.length > shown && (
                  <button type="button" class="more" onClick={() => setShown(shown + STEP)}>
                    {shell.more}
                  </button>
                )}
              </>
            );
          }}
        </List>
      </Section>
    </Page>
  );
};

const Rows = ({ surveys }: { surveys: ListedSurvey[] }) => {
  const counts = useCounts(surveys.map(({ id }) => id));
  return (
    <Table
      caption={words.list.caption}
      items={surveys}
      keyOf={({ id }) => id}
      columns={[
        {
          title: words.list.question,
          kind: 'title',
          cell: ({ id, question, options }) => (
            <div class="survey-name">
              <a href={linkTo('surveys', id)} dir="auto">
                {question}
              </a>
              <span class="quiet" dir="auto">
                {words.list.options(options.map(({ option }) => option))}
              </span>
            </div>
          ),
        },
        { title: words.list.created, cell: ({ created_at }) => <Time at={created_at} as="date" /> },
        {
          title: words.list.answers,
          kind: 'number',
          cell: ({ id }) => {
            const count = counts[id];
            if (count === undefined) return <span class="quiet">{words.list.counting}</span>;
            return count === 'unknown' ? <span class="quiet">{words.list.notCounted}</span> : figure(count);
          },
        },
      ]}
    />
  );
};

/** How many requests for counts run at the same time: the limits of the account are also those of its programs. */
const AT_ONCE = 4;

/** The number of answers of each survey, as far as they were counted. */
const useCounts = (ids: string[]): Record<string, number | 'unknown'> => {
  const [counts, setCounts] = useState<Record<string, number | 'unknown'>>({});
  const missing = ids.filter((id) => counts[id] === undefined);
  const key = missing.length === 0 ? '' : ids.join();
  useEffect(() => {
    if (key === '') return;
    const ending = new AbortController();
    const waiting = [...missing];
    const count = async (): Promise<void> => {
      for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
        const counted = await call('readResults', { path: { id }, signal: ending.signal }).then(
          ({ body }) => body.total,
          () => 'unknown' as const,
        );
        if (ending.signal.aborted) return;
        setCounts((before) => ({ ...before, [id]: counted }));
      }
    };
    for (let running = 0; running < AT_ONCE; running += 1) void count();
    return () => ending.abort();
  }, [key]);
  return counts;
};
