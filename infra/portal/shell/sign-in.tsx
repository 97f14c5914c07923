/** Signing in with a token. Links of the operator sign in by themselves. */
import { useState } from 'preact/hooks';
import { Icon } from '../../web/icons.tsx';
import { Notice } from '../../web/parts.tsx';
import { ThemeButton } from '../../web/theme.tsx';
import { isRejection } from '../client.ts';
import { useAction } from '../use-call.ts';
import { shell } from '../words/shell.ts';
import { sentenceOf } from './failure.tsx';
import { TextField } from './page.tsx';

const words = shell.signIn;

interface SignInProps {
  problem: string | undefined;
  /** @throws ApiError · OfflineError */
  onToken: (token: string) => Promise<void>;
}

export const SignIn = ({ problem, onToken }: SignInProps) => {
  const [token, setToken] = useState('');
  const [missing, setMissing] = useState(false);
  const { run, busy, error } = useAction(onToken);
  const submit = (event: Event) => {
    event.preventDefault();
    setMissing(token.trim() === '');
    if (token.trim() !== '') run(token.trim());
  };
  const shown = error === undefined ? problem : isRejection(error) ? words.unknown : sentenceOf(error);
  return (
    <main class="sign-in">
      <header>
        <span class="brand">
          <Icon name="chat" />
        </span>
        <strong>{shell.product}</strong>
        <ThemeButton />
      </header>
      <h1>{words.title}</h1>
      <p>{words.intro}</p>
      {shown !== undefined && (
        <Notice tone={error === undefined && problem === words.signedOut ? 'ok' : 'bad'}>{shown}</Notice>
      )}
      <form onSubmit={submit} noValidate>
        <TextField
          label={words.token}
          hint={words.hint}
          error={missing ? words.missing : undefined}
          type="password"
          name="token"
          autocomplete="off"
          spellcheck={false}
          value={token}
          onValue={setToken}
        />
        <button type="submit" class="primary" disabled={busy}>
          {busy ? words.working : words.submit}
        </button>
      </form>
    </main>
  );
};
