/** Samples in three languages, and where the reference is. */
import { Icon } from '../../web/icons.tsx';
import { Copy } from '../../web/parts.tsx';
import { go, linkTo, type Route } from '../router.ts';
import { Code } from '../shell/code.tsx';
import { Section } from '../shell/page.tsx';
import { developers as texts } from '../words/developers.ts';
import { type Language, languages, readJob, readToken, receiveEvents, sendMessage } from './snippets.ts';

const words = texts.samples;

export const Samples = ({ route }: { route: Route }) => {
  const language: Language = languages.find((one) => one === route.query.in) ?? 'curl';
  const titled = (title: string) => `${title} (${words.languages[language]})`;
  return (
    <>
      <Section title={texts.reference.title}>
        <div class="stack">
          <p class="prose">{texts.reference.text}</p>
          <div class="base-url">
            <span class="quiet">{texts.reference.baseUrl}</span>
            <code>{location.origin}</code>
            <Copy text={location.origin} label={texts.reference.copyBaseUrl} />
          </div>
          <div class="buttons">
            <a class="button" href="/v1/openapi.json?format=json" target="_blank" rel="noopener noreferrer">
              <Icon name="file" />
              {texts.reference.description}
            </a>
            {/* In this tab, so that its forms have the token of the session. */}
            <a class="button" href="/docs">
              <Icon name="book" />
              {texts.reference.docs}
            </a>
          </div>
        </div>
      </Section>
      <Section title={words.before.title}>
        <div class="stack">
          <p>{words.before.text}</p>
          <Code label={words.before.command} text={readToken} />
        </div>
      </Section>
      <fieldset class="languages">
        <legend>{words.language}</legend>
        {languages.map((one) => (
          <label key={one}>
            <input
              class="unseen"
              type="radio"
              name="language"
              checked={one === language}
              onChange={() => go(linkTo('developers', 'samples', { in: one }), { replace: true })}
            />
            {words.languages[one]}
          </label>
        ))}
      </fieldset>
      <Section title={words.send.title}>
        <div class="stack">
          <p>{words.send.text}</p>
          <Code label={titled(words.send.title)} text={sendMessage[language]} />
        </div>
      </Section>
      <Section title={words.job.title}>
        <div class="stack">
          <p>{words.job.text}</p>
          <Code label={titled(words.job.title)} text={readJob[language]} />
        </div>
      </Section>
      <Section title={words.webhook.title}>
        <div class="stack">
          <p>{language === 'curl' ? words.webhook.shellText : words.webhook.text}</p>
          <Code label={titled(words.webhook.title)} text={receiveEvents[language]} />
        </div>
      </Section>
    </>
  );
};
