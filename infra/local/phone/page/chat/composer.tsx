/** The form for a new message: Enter sends, Shift+Enter begins a new line. */
import type { RefObject } from 'preact';
import { useState } from 'preact/hooks';
import type { Bot } from '../../views.ts';

interface ComposerProps {
  bots: Bot[];
  bot: string;
  onBot: (number: string) => void;
  onWrite: (text: string) => void;
  field: RefObject<HTMLTextAreaElement | null>;
}

export const Composer = ({ bots, bot, onBot, onWrite, field }: ComposerProps) => {
  const [text, setText] = useState('');
  const write = () => {
    if (text.trim() === '') return;
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
      <div class="to">
        <label for="bot">To</label>
        <select id="bot" value={bot} onChange={({ currentTarget }) => onBot(currentTarget.value)}>
          {bots.map(({ number, name, platform }) => (
            <option key={number} value={number}>
              {name} ({platform})
            </option>
          ))}
          {!bots.some(({ number }) => number === bot) && <option value={bot}>+{bot}</option>}
        </select>
      </div>
      <div class="row">
        <label class="unseen" for="message">
          Message
        </label>
        <textarea
          id="message"
          ref={field}
          rows={1}
          placeholder="Write a message"
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
          onKeyDown={(event) => {
            // While a character is being composed, Enter ends that.
            if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
            event.preventDefault();
            write();
          }}
        />
        <button type="submit" class="primary">
          Send
        </button>
      </div>
    </form>
  );
};
