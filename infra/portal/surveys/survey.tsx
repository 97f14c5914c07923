/** One survey: its results, who answered, its files, and its deletion. */
import { useEffect, useState } from 'preact/hooks';
import { BarTable } from '../../web/bars.tsx';
import { figure, percent } from '../../web/figures.ts';
import { Icon } from '../../web/icons.tsx';
import { Dialog, Empty, Skeleton } from '../../web/parts.tsx';
import { spacedNumber, Time } from '../../web/text.tsx';
import { useToast } from '../../web/toast.tsx';
import { ApiError, addressOf, type BodyFrom, call } from '../client.ts';
import { go, linkTo } from '../router.ts';
import { Download } from '../shell/download.tsx';
import { Failure } from '../shell/failure.tsx';
import { ButtonLink, Facts, Id, List, Page, Section, Table } from '../shell/page.tsx';
import { type Loaded, later, useAction, useCall, usePages } from '../use-call.ts';
import { shell } from '../words/shell.ts';
import { surveys } from '../words/surveys.ts';

const words = surveys.one;

/** Milliseconds after which the results are read again. The service counts an answer after some two seconds. */
const REFRESH = 5_000;
/** Milliseconds until an empty list of answers is read again, though there are some. */
const AGAIN_MS = 1_000;
/** Options whose bars are shown at first. */
const SHOWN = 20;

const back = { href: linkTo('surveys'), label: surveys.back };

export const Survey = ({ id }: { id: string }) => {
  const survey = useCall('readProfiler', { path: { id } });
  const results = useCall('readResults', { path: { id } }, REFRESH);
  const [deleting, setDeleting] = useState(false);
  // Somebody else may delete it while it is open.
  const isGone = [survey.error, results.error].some((error) => error instanceof ApiError && error.status === 404);
  if (isGone) {
    return (
      <Page title={words.loading} back={back}>
        <Empty icon="search">
          <p>{words.gone}</p>
          <ButtonLink href={linkTo('surveys')}>{words.toList}</ButtonLink>
        </Empty>
      </Page>
    );
  }
  if (survey.data === undefined) {
    return (
      <Page title={words.loading} back={back}>
        <Failure error={survey.error} onRetry={survey.reload} title={shell.notLoaded} />
        {survey.error === undefined && <Skeleton rows={6} />}
      </Page>
    );
  }
  const { question, created_at, options } = survey.data;
  const name = fileNameOf(question, id);
  return (
    <Page
      title={question}
      back={back}
      actions={
        <>
          <Download
            address={addressOf('exportProfiler', { path: { id, file: 'results.csv' } })}
            name={`${name}-results.csv`}
          >
            {words.fileOfResults}
          </Download>
          <Download
            address={addressOf('exportProfiler', { path: { id, file: 'answers.csv' } })}
            name={`${name}-answers.csv`}
          >
            {words.fileOfAnswers}
          </Download>
          <button type="button" class="danger" onClick={() => setDeleting(true)}>
            <Icon name="trash" />
            {words.delete}
          </button>
        </>
      }
    >
      <Results results={results} />
      <Answers id={id} total={results.data?.total ?? 0} />
      <Details id={id} created={created_at} options={options} />
      {deleting && (
        <DeleteDialog id={id} question={question} count={results.data?.total} onClose={() => setDeleting(false)} />
      )}
    </Page>
  );
};

/** Most characters of the question in the name of a file. */
const LONGEST_NAME = 40;

/** `what-do-you-drink-in-the-morning`; the id of a question without Latin letters. */
const fileNameOf = (question: string, id: string): string => {
  const words = question.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  return words.join('-').slice(0, LONGEST_NAME).replace(/-$/, '') || id;
};

const Results = ({ results: { data, error, reload } }: { results: Loaded<BodyFrom<'readResults'>> }) => {
  const [all, setAll] = useState(false);
  return (
    <Section title={words.results} actions={data && <span class="quiet">{words.live}</span>}>
      <Failure error={error} onRetry={reload} title={shell.notLoaded} />
      {data === undefined ? (
        error === undefined && <Skeleton rows={4} />
      ) : data.total === 0 ? (
        <p class="quiet-text">{words.noAnswers}</p>
      ) : (
        <p class="survey-total">
          <strong>{figure(data.total)}</strong> {words.totalUnit(data.total)}
        </p>
      )}
      {data !== undefined && (
        <BarTable
          caption={words.barsCaption}
          max={data.total}
          rows={(all ? data.options : data.options.slice(0, SHOWN)).map(({ option, count }) => ({
            label: option,
            count,
            share: percent(count, data.total),
          }))}
        />
      )}
      {data !== undefined && data.options.length > SHOWN && !all && (
        <button type="button" class="more" onClick={() => setAll(true)}>
          {words.allOptions(data.options.length)}
        </button>
      )}
    </Section>
  );
};

interface AnswersProps {
  id: string;
  /** How many the results have. */
  total: number;
}

const Answers = ({ id, total }: AnswersProps) => {
  const pages = usePages('listAnswers', { path: { id }, query: { limit: '25' } });
  const isBehind = total > 0 && pages.items?.length === 0 && !pages.loading;
  // The results refresh by themselves: they must not count answers of which the list knows nothing.
  useEffect(() => (isBehind ? later(AGAIN_MS, pages.reload) : undefined), [isBehind, pages.reload]);
  return (
    <Section
      title={words.answers}
      actions={
        <button type="button" class="quiet-button" disabled={pages.loading} onClick={pages.reload}>
          <Icon name="retry" />
          {words.again}
        </button>
      }
    >
      <List
        pages={pages}
        empty={
          <Empty icon="people">
            <p>{words.nobody}</p>
          </Empty>
        }
      >
        {(answers) => (
          <Table
            caption={words.answersCaption}
            items={answers}
            keyOf={({ phone_number }) => phone_number}
            columns={[
              { title: words.person, cell: ({ phone_number }) => spacedNumber(phone_number) },
              { title: words.option, cell: ({ option }) => <span dir="auto">{option}</span> },
              { title: words.time, cell: ({ created }) => <Time at={created} as="when" /> },
            ]}
          />
        )}
      </List>
    </Section>
  );
};

interface DetailsProps {
  id: string;
  created: string;
  options: BodyFrom<'readProfiler'>['options'];
}

/** The ids with which software records answers. */
const Details = ({ id, created, options }: DetailsProps) => (
  <Section title={words.details}>
    <div class="survey-details">
      <p class="quiet-text">{words.detailsHint}</p>
      <Facts
        facts={[
          [words.created, <Time key="created" at={created} as="when" />],
          [words.id, <Id key="id" id={id} label={words.copyId} />],
        ]}
      />
    </div>
    <details class="survey-ids">
      <summary>{words.idsOfOptions(options.length)}</summary>
      <Table
        caption={words.idsOfOptions(options.length)}
        items={options}
        keyOf={(option) => option.id}
        columns={[
          { title: words.option, cell: ({ option }) => <span dir="auto">{option}</span> },
          { title: words.optionId, cell: (option) => <Id id={option.id} label={words.idOf(option.option)} /> },
        ]}
      />
    </details>
  </Section>
);

interface DeleteProps {
  id: string;
  question: string;
  count: number | undefined;
  onClose: () => void;
}

const DeleteDialog = ({ id, question, count, onClose }: DeleteProps) => {
  const toast = useToast();
  const { run, busy, error } = useAction(async () => {
    await call('deleteProfiler', { path: { id } }).catch((problem: unknown) => {
      // Deleted before: by somebody else, or by a request whose response was lost.
      if (!(problem instanceof ApiError && problem.status === 404)) throw problem;
    });
    toast(words.deleted);
    go(linkTo('surveys'), { replace: true });
  });
  return (
    <Dialog
      title={words.deleteTitle}
      onClose={onClose}
      close={words.keep}
      actions={
        <button type="button" class="danger" disabled={busy} onClick={() => run()}>
          {busy ? words.deleting : words.confirmDelete}
        </button>
      }
    >
      <p>{words.deleteLoses(question, count)}</p>
      <p>{words.deleteForGood}</p>
      <Failure error={error} />
    </Dialog>
  );
};
