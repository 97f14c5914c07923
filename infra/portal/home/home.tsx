/** The view Home: what becomes of messages, what needs attention, and what to do next. */
import { present } from '../../web/clock.ts';
import { Skeleton } from '../../web/parts.tsx';
import { linkTo } from '../router.ts';
import { Failure } from '../shell/failure.tsx';
import { ButtonLink, Page } from '../shell/page.tsx';
import { lastDays } from '../times.ts';
import { useCall } from '../use-call.ts';
import type { ViewProps } from '../views.ts';
import { home as words } from '../words/home.ts';
import { shell } from '../words/shell.ts';
import { Attention } from './attention.tsx';
import { sumOf } from './counts.ts';
import { DeliveryTimes } from './delivery-times.tsx';
import { Funnel } from './funnel.tsx';
import { RecentCampaigns } from './recent-campaigns.tsx';
import { EVERY, errorToShow } from './refresh.ts';
import { Start } from './start.tsx';

export const Home = ({ route, session }: ViewProps) => {
  const isMonth = route.query.period === 'month';
  const today = useCall('listJobs', { query: lastDays(1) }, EVERY);
  const month = useCall('listJobs', { query: lastDays(30) }, EVERY);
  // An account may have rested for more than a month.
  const isQuiet = month.ready && month.data === undefined;
  const year = useCall('listJobs', isQuiet ? { query: lastDays(366) } : undefined);
  const shown = isMonth ? month : today;
  const isNew = isQuiet && year.ready && year.data === undefined;
  const isKnown = month.ready && today.ready && (!isQuiet || year.ready);
  const error = errorToShow(shown) ?? errorToShow(month) ?? errorToShow(year);
  const reload = () => {
    for (const one of [today, month, year]) one.reload();
  };
  return (
    <Page
      title={shell.views.home}
      intro={dateLine()}
      actions={
        session.may('sendMessage') && (
          <ButtonLink href={linkTo('campaigns', 'new')} icon="pen" primary>
            {words.write}
          </ButtonLink>
        )
      }
    >
      <Failure error={error} onRetry={reload} title={shell.notLoaded} />
      {isNew && <Start session={session} />}
      <Attention session={session} today={today} month={month} />
      {!isKnown
        ? error === undefined && <Skeleton rows={8} />
        : !isNew && (
            <>
              <div class="home-columns">
                <Funnel counts={sumOf(shown.data)} isMonth={isMonth} />
                {session.may('readMessage') && <DeliveryTimes />}
              </div>
              <RecentCampaigns session={session} rows={month.data} />
            </>
          )}
    </Page>
  );
};

const dateLine = (): string => {
  const now = new Date(present());
  return now.toLocaleDateString(undefined, { weekday: 'long', day: 'numeric', month: 'long' });
};
