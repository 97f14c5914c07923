/** The view Developers: `#/developers` with the tokens, `/new`, `/samples`, `/test`. */
import { linkTo } from '../router.ts';
import { Page } from '../shell/page.tsx';
import { Tabs } from '../shell/tabs.tsx';
import type { ViewProps } from '../views.ts';
import { developers as words } from '../words/developers.ts';
import { shell } from '../words/shell.ts';
import { CreateToken } from './create.tsx';
import { Samples } from './samples.tsx';
import { TestMessage } from './test.tsx';
import { CreateTokenLink, Tokens } from './tokens.tsx';

export const Developers = ({ route, session }: ViewProps) => {
  const { may } = session;
  const given = route.rest[0] ?? 'tokens';
  if (given === 'new' && may('createToken')) return <CreateToken session={session} />;
  const parts = (['tokens', 'samples', 'test'] as const).filter(
    (part) => part === 'samples' || may(part === 'tokens' ? 'listTokens' : 'sendMessage'),
  );
  const part = parts.find((one) => one === given) ?? parts[0];
  return (
    <Page
      key={part}
      title={shell.views.developers}
      intro={words.intro}
      actions={part === 'tokens' && may('createToken') && <CreateTokenLink />}
    >
      <Tabs
        label={words.tabsLabel}
        tabs={parts.map((one) => ({
          href: one === 'tokens' ? linkTo('developers') : linkTo('developers', one),
          label: words.tabs[one],
          isOpen: one === part,
        }))}
      />
      {part === 'tokens' && <Tokens session={session} />}
      {part === 'samples' && <Samples route={route} />}
      {part === 'test' && <TestMessage session={session} />}
    </Page>
  );
};
