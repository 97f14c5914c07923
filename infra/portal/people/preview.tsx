/** What a person sees of a request: a card in the app. */
import { Chip } from '../../web/parts.tsx';
import { Section } from '../shell/page.tsx';
import { people } from '../words/people.ts';
import type { Asked } from './ask.tsx';

const words = people.preview;

interface PreviewProps {
  /** The name of the business; `undefined` if the token may not read it. */
  business: string | undefined;
  reason: string;
  /** What the person decides. */
  asked: Asked[];
  /** Whether everything is granted without asking. */
  needsNobody: boolean;
  /** For how many days the consent is valid; `undefined` if it has no end. */
  days: number | undefined;
}

export const Preview = ({ business, reason, asked, needsNobody, days }: PreviewProps) => {
  const name = business ?? words.yourOrganisation;
  return (
    <Section title={words.title}>
      {needsNobody ? (
        <p class="quiet-text">{words.nobody}</p>
      ) : (
        <>
          <div class="consent-wall">
            <div class="consent-card">
              <p class="consent-head">
                <span class="consent-avatar" aria-hidden="true">
                  {[...name][0]?.toUpperCase()}
                </span>
                <span>
                  <strong dir="auto">{words.asks(name)}</strong>
                  <q class="quiet" dir="auto">
                    {reason.trim() || words.noReason}
                  </q>
                </span>
              </p>
              {asked.length === 0 && <p class="quiet">{words.nothing}</p>}
              <ul>
                {asked.map(({ property, reason: why, required }) => (
                  <li key={property}>
                    <span>
                      <strong>{people.nameOf(property)}</strong>{' '}
                      {required && <Chip tone="warn">{people.required}</Chip>}
                      <span class="quiet" dir="auto">
                        {why.trim() || people.descriptionOf(property)}
                      </span>
                    </span>
                    <span class="consent-buttons" aria-hidden="true">
                      <span>{words.deny}</span>
                      <span>{words.approve}</span>
                    </span>
                  </li>
                ))}
              </ul>
              <p class="quiet">{days === undefined ? words.endless : words.limited(days)}</p>
            </div>
          </div>
          <p class="quiet consent-note">{words.hint}</p>
        </>
      )}
    </Section>
  );
};
