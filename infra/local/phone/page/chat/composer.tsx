/** The form for a new message: Enter sends, Shift+Enter begins a new line. */
import type { RefObject } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { Icon } from '../icons.tsx';

interface ComposerProps {
  name: string;
  online: boolean;
  onWrite: (text: string) => void;
  field: RefObject<HTMLTextAreaElement | null>;
}

export const Composer = ({ name, online, onWrite, field }: ComposerProps) => {
  const [text, setText] = useState('');
  /** The text that was sent last, until the field has changed: two events at the same time send it once. */
  const sent = useRef('');
  const write = () => {
    if (!online || text.trim() === '' || sent.current === text) return;
    sent.current = text;
    onWrite(text);
    setText('');
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
      <button type="submit" class="send" title="Send" disabled={!online}>
        <Icon name="send" />
        <span class="unseen">Send</span>
      </button>
    </form>
  );
};
