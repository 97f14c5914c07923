/** The form for a new message: Enter sends, Shift+Enter begins a new line. A picture takes the text as its caption. */
import type { RefObject } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { Icon } from '../../../../web/icons.tsx';
import { useToast } from '../../../../web/toast.tsx';
import { describeError } from '../data/api.ts';
import type { DraftContent } from '../data/outbox.ts';

interface ComposerProps {
  name: string;
  online: boolean;
  onWrite: (text: string, content?: DraftContent) => void;
  field: RefObject<HTMLTextAreaElement | null>;
}

/** The place that a user sends. */
const PLACE = { latitude: -33.92, longitude: 18.42, name: 'Cape Town' };

export const Composer = ({ name, online, onWrite, field }: ComposerProps) => {
  const [text, setText] = useState('');
  /** The text that was sent last, until the field has changed: two events at the same time send it once. */
  const sent = useRef('');
  const toast = useToast();
  const write = () => {
    if (!online || text.trim() === '' || sent.current === text) return;
    sent.current = text;
    onWrite(text);
    setText('');
  };
  const attach = (content: DraftContent, caption: string) => {
    onWrite(caption, content);
    setText('');
  };
  const sendPicture = async (file: File | undefined) => {
    if (file === undefined) return;
    try {
      const response = await fetch('/files', { method: 'POST', headers: { 'content-type': file.type }, body: file });
      const { url } = await response.json();
      attach({ image: { url, mime_type: file.type, size: file.size } }, text);
    } catch (error) {
      toast(describeError(error), 'bad');
    }
  };
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        write();
      }}
    >
      <label class="unseen" for="message">
        Message
      </label>
      <textarea
        id="message"
        ref={field}
        rows={1}
        dir="auto"
        placeholder={online ? `Message ${name}` : 'Offline'}
        value={text}
        onInput={({ currentTarget }) => {
          sent.current = '';
          setText(currentTarget.value);
        }}
        onKeyDown={(event) => {
          // While a character is being composed, Enter ends that.
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          write();
        }}
      />
      <label class="attach icon-button" title="Send a picture">
        <Icon name="picture" />
        <span class="unseen">Send a picture</span>
        <input
          type="file"
          class="unseen"
          accept="image/*"
          disabled={!online}
          onChange={({ currentTarget }) => {
            void sendPicture(currentTarget.files?.[0]);
            currentTarget.value = '';
          }}
        />
      </label>
      <button
        type="button"
        class="attach icon-button"
        title="Send a location: Cape Town"
        disabled={!online}
        onClick={() => attach({ location: PLACE }, `${PLACE.name}\ngeo:${PLACE.latitude},${PLACE.longitude}`)}
      >
        <Icon name="place" />
        <span class="unseen">Send a location</span>
      </button>
      <button type="submit" class="send" title="Send" disabled={!online}>
        <Icon name="send" />
        <span class="unseen">Send</span>
      </button>
    </form>
  );
};
