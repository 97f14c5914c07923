/** What to do first, in an account that has sent nothing yet. */
import { Chip } from '../../web/parts.tsx';
import { linkTo } from '../router.ts';
import type { Session } from '../session.ts';
import { ButtonLink, Section } from '../shell/page.tsx';
import { useCall } from '../use-call.ts';
import { home } from '../words/home.ts';

const words = home.start;

export const Start = ({ session }: { session: Session }) => {
  const { data } = useCall('readConfiguration', session.may('readConfiguration') ? {} : undefined);
  const configuration = data?.configuration;
  const steps = [
    session.may('updateAccount') && {
      ...words.identity,
      href: linkTo('settings'),
      done: Boolean(configuration?.avatar),
    },
    session.may('listWebhooks') && {
      ...words.receive,
      href: linkTo('webhooks'),
      done: Boolean(configuration?.platform),
    },
    session.may('sendMessage') && { ...words.send, href: linkTo('campaigns', 'new'), done: false },
  ].filter((step) => step !== false);
  return (
    <Section title={words.title}>
      {steps.length === 0 ? (
        <p>{words.statsOnly}</p>
      ) : (
        <>
          <p>{words.intro}</p>
          <ol class="start-steps">
            {steps.map(({ title, text, action, href, done }, place) => (
              <li key={title}>
                <span class="step-number" aria-hidden="true">
                  {place + 1}
                </span>
                <div>
                  <h3>{title}</h3>
                  <p>{text}</p>
                </div>
                {done ? (
                  <Chip tone="ok">{words.done}</Chip>
                ) : (
                  <ButtonLink href={href} primary={title === words.send.title}>
                    {action}
                  </ButtonLink>
                )}
              </li>
            ))}
          </ol>
        </>
      )}
    </Section>
  );
};
