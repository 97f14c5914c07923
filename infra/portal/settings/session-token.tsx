/** The token of this session. */
import { Time } from '../../web/text.tsx';
import { linkTo } from '../router.ts';
import type { Session } from '../session.ts';
import { ButtonLink, Facts, Section } from '../shell/page.tsx';
import { permissionWords } from '../words/developers.ts';
import { settings } from '../words/settings.ts';

const words = settings.session;

export const SessionToken = ({ session: { info, may } }: { session: Session }) => (
  <Section
    title={words.title}
    actions={may('listTokens') && <ButtonLink href={linkTo('developers')}>{words.manage}</ButtonLink>}
  >
    <div class="stack">
      <Facts
        facts={[
          [words.label, info.label],
          [words.account, info.account],
          [words.created, <Time key="created" at={info.created} as="date" />],
          [words.expires, info.expires === null ? words.never : <Time key="expires" at={info.expires} as="when" />],
        ]}
      />
      <h3>{words.may}</h3>
      <ul class="listed">
        {info.permissions.map((one) => (
          <li key={one}>{(permissionWords as Record<string, string>)[one] ?? one}</li>
        ))}
      </ul>
    </div>
  </Section>
);
