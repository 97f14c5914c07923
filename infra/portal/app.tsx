/** The portal: signing in, then the frame with one view. */
import { useCallback, useEffect, useState } from 'preact/hooks';
import { Skeleton } from '../web/parts.tsx';
import { Toasts } from '../web/toast.tsx';
import { ApiError, call, connect } from './client.ts';
import { routeNow } from './router.ts';
import { type Session, type StoredSession, sessionOf, store, storedSession, takeCode } from './session.ts';
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

type State = { is: 'opening' } | { is: 'out'; problem?: string } | { is: 'in'; session: Session };

/** Exchanges the code of a sign-in link for a session. */
const exchange = async (given: string): Promise<StoredSession> => {
  const { body } = await call('createSession', { body: { code: given } });
  return { token: body.token, own: true };
};

export const App = () => {
  const [state, setState] = useState<State>({ is: 'opening' });
  const [online, setOnline] = useState(true);

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

  useEffect(() => {
    const open = async () => {
      connect(undefined, { onRejected: () => undefined, onConnection: setOnline });
      // While the token is checked. Each of the two takes a second on a slow network.
      if (code !== undefined || storedSession() !== undefined) loadView();
      try {
        const stored = code === undefined ? storedSession() : await exchange(code);
        if (stored === undefined) setState({ is: 'out' });
        else await enter(stored);
      } catch (error) {
        if (!(error instanceof ApiError)) leave(words.offlineError);
        else
          leave(code === undefined ? words.signIn.ended : error.status === 404 ? words.signIn.badLink : error.message);
      }
    };
    void open();
  }, [enter, leave]);

  const signOut = async (session: Session) => {
    // A token that was made for this session ends with it. One that was entered belongs to a person or a program.
    if (session.own) await call('endSession').catch(() => undefined);
    leave(words.signIn.signedOut);
  };

  if (state.is === 'opening') {
    return (
      <main class="sign-in">
        <p role="status">{words.signIn.working}</p>
        <Skeleton rows={2} />
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
