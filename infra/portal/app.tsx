/** The portal: signing in, then the frame with one view. */
import { useCallback, useErrorBoundary, useLayoutEffect, useState } from 'preact/hooks';
import { Skeleton } from '../web/parts.tsx';
import { Toasts } from '../web/toast.tsx';
import { ApiError, call, connect, isRejection } from './client.ts';
import { routeNow } from './router.ts';
import { forgetAll, type Session, type StoredSession, sessionOf, store, storedSession, takeCode } from './session.ts';
import { Failure, sentenceOf } from './shell/failure.tsx';
import { Frame } from './shell/frame.tsx';
import { SignIn } from './shell/sign-in.tsx';
import { views } from './views.ts';
import { shell as words } from './words/shell.ts';

// Before anything else: the address must not keep it.
const code = takeCode();

/** Loads the code of the view that the address shows. The frame shows a failure, if it is one. */
const loadView = (): void => {
  const { view } = routeNow();
  const shown = views.find(({ id }) => id === view) ?? views[0];
  shown?.load().catch(() => undefined);
};

type State =
  | { is: 'opening' }
  | { is: 'out'; problem?: string }
  /** Whether the token still works is not known. */
  | { is: 'unknown'; error: unknown }
  | { is: 'in'; session: Session };

/** Exchanges the code of a sign-in link for a session. */
const exchange = async (given: string): Promise<StoredSession> => {
  const { body } = await call('createSession', { body: { code: given } });
  return { token: body.token, own: true };
};

/**
 * Ends a session. A token that was made for it ends, too. One that was entered belongs to a person or a program.
 *
 * @returns whether the token cannot be used any more by who finds it in this browser
 */
const end = async ({ token, own }: StoredSession): Promise<boolean> => {
  if (!own) return true;
  connect(token, { onRejected: () => undefined, onConnection: () => undefined });
  try {
    await call('endSession', { mayRepeat: true });
    return true;
  } catch (error) {
    return isRejection(error);
  }
};

export const App = () => {
  const [state, setState] = useState<State>({ is: 'opening' });
  const [online, setOnline] = useState(true);
  const [broken] = useErrorBoundary();

  const leave = useCallback((problem?: string) => {
    store(undefined);
    connect(undefined, { onRejected: () => undefined, onConnection: setOnline });
    setState({ is: 'out', ...(problem !== undefined && { problem }) });
  }, []);

  /** @throws ApiError — the token is not valid; OfflineError */
  const enter = useCallback(
    async (stored: StoredSession) => {
      connect(stored.token, { onRejected: () => undefined, onConnection: setOnline });
      const { body } = await call('readTokenInfo');
      connect(stored.token, { onRejected: () => leave(words.signIn.ended), onConnection: setOnline });
      store(stored);
      setState({ is: 'in', session: sessionOf(stored, body) });
    },
    [leave],
  );

  const open = useCallback(
    async (code: string | undefined) => {
      connect(undefined, { onRejected: () => undefined, onConnection: setOnline });
      setState({ is: 'opening' });
      const before = storedSession();
      // While the token is checked. Each of the two takes a second on a slow network.
      if (code !== undefined || before !== undefined) loadView();
      let stored = before;
      if (code !== undefined) {
        try {
          stored = await exchange(code);
        } catch (error) {
          const isBad = error instanceof ApiError && error.status === 404;
          if (before === undefined) leave(isBad ? words.signIn.badLink : sentenceOf(error));
          // A link that does not work does not end the session either.
          else setState({ is: 'unknown', error });
          return;
        }
        if (before !== undefined) {
          forgetAll();
          await end(before);
        }
        // If its information cannot be read now, loading the page again finds it.
        store(stored);
      }
      if (stored === undefined) {
        setState({ is: 'out' });
        return;
      }
      await enter(stored).catch((error: unknown) => {
        if (isRejection(error)) leave(words.signIn.ended);
        else setState({ is: 'unknown', error });
      });
    },
    [enter, leave],
  );

  // Before the address can change: other effects wait for a frame.
  useLayoutEffect(() => {
    void open(code);
    // Who opens a link in a tab of the portal only changes the part of the address that contains the code.
    const look = () => {
      const later = takeCode();
      if (later !== undefined) void open(later);
    };
    addEventListener('hashchange', look);
    return () => removeEventListener('hashchange', look);
  }, [open]);

  const signOut = async (session: Session) => {
    forgetAll();
    setState({ is: 'opening' });
    leave((await end(session)) ? words.signIn.signedOut : words.signIn.notEnded);
  };

  if (broken !== undefined) {
    return (
      <main class="sign-in">
        <Failure error={broken} onRetry={() => location.reload()} />
      </main>
    );
  }
  if (state.is === 'opening') {
    return (
      <main class="sign-in">
        <p role="status">{words.working}</p>
        <Skeleton rows={2} />
      </main>
    );
  }
  if (state.is === 'unknown') {
    return (
      <main class="sign-in">
        <Failure error={state.error} onRetry={() => void open(undefined)} />
        <p>
          <button type="button" onClick={() => leave()}>
            {words.signIn.other}
          </button>
        </p>
      </main>
    );
  }
  if (state.is === 'out') {
    return <SignIn problem={state.problem} onToken={(token) => enter({ token, own: false })} />;
  }
  return (
    <Toasts>
      <Frame session={state.session} online={online} onSignOut={() => void signOut(state.session)} />
    </Toasts>
  );
};
