/** The frame of all views: the navigation, the account, and one view. */
import type { ComponentType } from 'preact';
import { useEffect, useErrorBoundary, useState } from 'preact/hooks';
import { Icon } from '../../web/icons.tsx';
import { Dialog, Empty, Notice, Skeleton } from '../../web/parts.tsx';
import { ThemeButton } from '../../web/theme.tsx';
import { go, linkTo, type Route, useRoute } from '../router.ts';
import type { Session } from '../session.ts';
import { useCall } from '../use-call.ts';
import { type View, type ViewProps, views } from '../views.ts';
import { shell as words } from '../words/shell.ts';
import { ButtonLink, Page } from './page.tsx';

interface FrameProps {
  session: Session;
  online: boolean;
  onSignOut: () => void;
}

export const Frame = ({ session, online, onSignOut }: FrameProps) => {
  const route = useRoute();
  const [menu, setMenu] = useState(false);
  const [asking, setAsking] = useState(false);
  const shown = views.filter(({ needs }) => needs.some(session.may));
  const [first] = shown;
  const view = shown.find(({ id }) => id === route.view);
  const account = useCall('readConfiguration', session.may('readConfiguration') ? {} : undefined);
  const name = account.data?.configuration.name ?? session.info.account;

  /** Asks first if something would be lost, as the browser does when the tab is closed. */
  const leave = () => {
    if (dispatchEvent(new Event('beforeunload', { cancelable: true }))) onSignOut();
    else setAsking(true);
  };

  useEffect(() => setMenu(false), [route]);
  useEffect(() => {
    if (route.view === '' && first) go(linkTo(first.id), { replace: true });
  }, [route.view, first?.id]);
  useEffect(() => {
    document.title = view ? `${words.views[view.id]} · ${words.product}` : words.product;
  }, [view?.id]);

  return (
    <div class="frame" data-menu={menu}>
      <button type="button" class="skip" onClick={() => document.getElementById('content')?.focus()}>
        {words.skip}
      </button>
      <header class="top">
        <button
          type="button"
          class="icon-button menu-button"
          aria-expanded={menu}
          aria-controls="views"
          onClick={() => setMenu(!menu)}
        >
          <Icon name={menu ? 'close' : 'menu'} />
          <span class="unseen">{words.openMenu}</span>
        </button>
        <span class="brand">
          <Icon name="chat" />
        </span>
        <strong class="account">{name}</strong>
        <span class="token-label quiet">{session.info.label}</span>
        <ThemeButton />
        <button type="button" class="quiet-button" onClick={leave}>
          <Icon name="signout" />
          <span class="sign-out">{words.signOut}</span>
        </button>
      </header>
      {asking && (
        <Dialog
          title={words.signOutTitle}
          close={words.cancel}
          onClose={() => setAsking(false)}
          actions={
            <button type="button" class="danger" onClick={onSignOut}>
              {words.signOut}
            </button>
          }
        >
          <p>{words.signOutLoses}</p>
        </Dialog>
      )}
      <nav class="views" id="views" aria-label={words.navigation}>
        <ul>
          {shown.map(({ id, icon }) => (
            <li key={id}>
              <a href={linkTo(id)} aria-current={id === view?.id ? 'page' : undefined}>
                <Icon name={icon} />
                {words.views[id]}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <main id="content" class="content" tabIndex={-1}>
        <div class="connection" role="status">
          {!online && <Notice tone="warn">{words.offline}</Notice>}
        </div>
        {view ? (
          <Loader key={view.id} view={view} route={route} session={session} />
        ) : shown.length === 0 ? (
          <Page title={words.noViewTitle}>
            <Empty icon="lock">
              <p>{words.noView}</p>
            </Empty>
          </Page>
        ) : (
          route.view !== '' && (
            <Page title={words.unknownViewTitle}>
              <Empty icon="search">
                <p>{words.unknownView}</p>
                {first && <ButtonLink href={linkTo(first.id)}>{words.toHome}</ButtonLink>}
              </Empty>
            </Page>
          )
        )}
      </main>
    </div>
  );
};

/** Loads a view's code, then shows it. What fails in it leaves the other views usable. */
const Loader = ({ view, route, session }: { view: View; route: Route; session: Session }) => {
  const [loaded, setLoaded] = useState<{ view: ComponentType<ViewProps> } | 'failed'>();
  const [broken, mend] = useErrorBoundary();
  useEffect(mend, [route]);
  useEffect(() => {
    view.load().then(
      (one) => setLoaded({ view: one }),
      () => setLoaded('failed'),
    );
  }, [view]);
  if (loaded === undefined) return <Skeleton rows={6} />;
  if (loaded === 'failed' || broken !== undefined) {
    return (
      <Empty icon="alert">
        <p>{loaded === 'failed' ? words.viewNotLoaded : words.unexpected}</p>
        <button type="button" onClick={() => location.reload()}>
          {words.loadPage}
        </button>
      </Empty>
    );
  }
  const { view: Shown } = loaded;
  return <Shown route={route} session={session} />;
};
