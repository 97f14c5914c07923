/** The message as a person sees it on the phone. */
import { present } from '../../web/clock.ts';
import { Icon } from '../../web/icons.tsx';
import { linked, spacedNumber, Time } from '../../web/text.tsx';
import { campaigns } from '../words/campaigns.ts';
import type { Attachment, Draft } from './draft.ts';
import type { Written } from './message.ts';
import type { Person } from './people.ts';

const words = campaigns.preview;

interface PreviewProps {
  draft: Draft;
  written: Written;
  people: Person[];
  /** The place of the person who is shown. */
  place: number;
  onPlace: (place: number) => void;
  business: string;
  /** The URL of the account's avatar. */
  avatar: string | undefined;
}

export const Preview = ({ draft, written, people, place, onPlace, business, avatar }: PreviewProps) => {
  const person = people[place];
  const values = person?.values ?? [];
  const text = written.text.fill(values);
  const replies = written.replies.map(({ fill }) => fill(values)).filter((reply) => reply.trim() !== '');
  const isEmpty = text.trim() === '' && draft.attachment === undefined;
  return (
    <aside class="preview" aria-labelledby="preview-title">
      <h2 id="preview-title">{words.title}</h2>
      <div class="phone">
        <div class="phone-bar" aria-hidden="true">
          <Time at={new Date(present()).toISOString()} />
          <span class="phone-camera" />
        </div>
        <div class="phone-head">
          <Icon name="back" />
          <Avatar name={business} url={avatar} />
          <span class="phone-name">
            <strong class="one-line">{business}</strong>
            <span class="quiet">{words.business}</span>
          </span>
        </div>
        <div class="phone-wall">
          <span class="phone-day">{words.today}</span>
          {isEmpty ? (
            <p class="phone-empty">{words.empty}</p>
          ) : (
            <div class="phone-bubble" data-media={draft.attachment !== undefined} dir="auto">
              {draft.attachment && <Media {...draft.attachment} />}
              {text.trim() !== '' && <p class="phone-text">{linked(text)}</p>}
              <span class="phone-time">
                <Time at={new Date(present()).toISOString()} />
              </span>
            </div>
          )}
          {replies.length > 0 && (
            <ul class="phone-replies" aria-label={words.replies}>
              {replies.map((reply, index) => (
                <li key={index} dir="auto">
                  {reply}
                </li>
              ))}
            </ul>
          )}
        </div>
        <span class="phone-home" aria-hidden="true" />
      </div>
      <div class="preview-person">
        <button
          type="button"
          class="icon-button"
          title={words.before}
          disabled={place === 0}
          onClick={() => onPlace(place - 1)}
        >
          <Icon name="chevron" />
          <span class="unseen">{words.before}</span>
        </button>
        <p role="status">
          {person ? (
            <>
              <strong>{spacedNumber(person.phone)}</strong>
              <span class="quiet">{words.of(place + 1, people.length)}</span>
            </>
          ) : (
            <span class="quiet">{words.nobody}</span>
          )}
        </p>
        <button
          type="button"
          class="icon-button next"
          title={words.next}
          disabled={place >= people.length - 1}
          onClick={() => onPlace(place + 1)}
        >
          <Icon name="chevron" />
          <span class="unseen">{words.next}</span>
        </button>
      </div>
    </aside>
  );
};

const Avatar = ({ name, url }: { name: string; url: string | undefined }) =>
  url !== undefined && /^https?:/.test(url) ? (
    <img class="phone-avatar" src={url} alt="" />
  ) : (
    <span class="phone-avatar" aria-hidden="true">
      {[...name][0]?.toUpperCase()}
    </span>
  );

const Media = ({ type, name, preview }: Attachment) =>
  type === 'image' ? (
    <img class="phone-picture" src={preview} alt={name} />
  ) : (
    <span class="phone-file">
      <span class="phone-file-icon">
        <Icon name={type === 'file' ? 'file' : 'play'} />
      </span>
      <span class="file-name">
        {name}
        <span class="quiet">{{ file: words.file, video: words.film, audio: words.sound }[type]}</span>
      </span>
    </span>
  );
