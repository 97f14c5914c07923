/** The view Settings: `#/settings` with what the business may change, and `#/settings/history`. */
import { Skeleton } from '../../web/parts.tsx';
import { linkTo } from '../router.ts';
import type { Session } from '../session.ts';
import { Failure } from '../shell/failure.tsx';
import { Page } from '../shell/page.tsx';
import { Tabs } from '../shell/tabs.tsx';
import { useCall } from '../use-call.ts';
import type { ViewProps } from '../views.ts';
import { settings as words } from '../words/settings.ts';
import { shell } from '../words/shell.ts';
import { Appearance } from './appearance.tsx';
import { History } from './history.tsx';
import { Hours } from './hours.tsx';
import { Limits } from './limits.tsx';
import { SessionToken } from './session-token.tsx';
import { StopKeywords } from './stop-keywords.tsx';

export const Settings = ({ route, session }: ViewProps) => {
  const hasAccount = session.may('readConfiguration');
  const hasHistory = session.may('listHistory');
  const showsHistory = hasHistory && (route.rest[0] === 'history' || !hasAccount);
  return (
    <Page
      key={String(showsHistory)}
      title={shell.views.settings}
      intro={showsHistory ? words.history.intro : words.intro}
    >
      <Tabs
        label={words.tabsLabel}
        tabs={[
          ...(hasAccount ? [{ href: linkTo('settings'), label: words.tabs.account, isOpen: !showsHistory }] : []),
          ...(hasHistory
            ? [{ href: linkTo('settings', 'history'), label: words.tabs.history, isOpen: showsHistory }]
            : []),
        ]}
      />
      {showsHistory ? <History session={session} /> : <Account session={session} />}
      {showsHistory && !hasAccount && <SessionToken session={session} />}
    </Page>
  );
};

const Account = ({ session }: { session: Session }) => {
  const { data, error, reload } = useCall('readConfiguration', {});
  const configuration = data?.configuration;
  return (
    <>
      <Failure error={error} onRetry={reload} title={shell.notLoaded} />
      {configuration === undefined && error === undefined && <Skeleton rows={8} />}
      {configuration && (
        <>
          <Appearance configuration={configuration} onChange={reload} />
          <Hours given={configuration.sending_hours} onChange={reload} />
          <StopKeywords given={configuration.opt_out_keywords} onChange={reload} />
          <Limits configuration={configuration} />
        </>
      )}
      {/* Below what has loaded, so that it does not move. */}
      {(configuration !== undefined || error !== undefined) && <SessionToken session={session} />}
    </>
  );
};
