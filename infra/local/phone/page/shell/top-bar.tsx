/** The top bar: the stack and its connection, the portal, the documentation, the theme; and the console's tools. */
import type { ComponentChildren } from 'preact';
import { Icon } from '../../../../web/icons.tsx';
import { ThemeButton } from '../../../../web/theme.tsx';
import type { Connection } from '../data/live.ts';

interface TopBarProps {
  connection: Connection;
  docs: string | undefined;
  /** The tools of the console: search, and destinations. */
  children?: ComponentChildren;
}

export const TopBar = ({ connection, docs, children }: TopBarProps) => (
  <header class="top">
    <div class="top-stack">
      <h1>
        <span class="brand" aria-hidden="true">
          <Icon name="chat" />
        </span>
        Local stack
      </h1>
      <Status connection={connection} />
      <span class="spacer" />
      <a class="quiet-button" href="/portal-link" target="_blank" rel="noreferrer">
        <Icon name="layers" />
        Portal
      </a>
      {docs && (
        <a class="quiet-button" href={docs}>
          <Icon name="book" />
          Docs
        </a>
      )}
      <ThemeButton />
    </div>
    <div class="top-console">{children}</div>
  </header>
);

const statusTexts: Record<Connection['state'], string> = {
  connecting: 'Connecting …',
  live: 'Live',
  lost: 'Offline',
};

/** Screen readers hear the state; the seconds until the next attempt are only shown. */
const Status = ({ connection: { state, retryIn } }: { connection: Connection }) => (
  <p class={`status ${state}`} role="status">
    {statusTexts[state]}
    {state === 'lost' && <span aria-hidden="true">, retrying in {retryIn} s</span>}
  </p>
);
