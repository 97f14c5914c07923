/** The editor of a message as a business, with its request. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '../../../../web/icons.tsx';
import { Close } from '../../../../web/parts.tsx';
import { spacedNumber } from '../../../../web/text.tsx';
import { useToast } from '../../../../web/toast.tsx';
import type { Bot, PhoneSummary } from '../../views.ts';
import { describeError, submitFor } from '../data/api.ts';
import { parsePhone } from '../data/phone-number.ts';
import { copiedAs, useCopy } from '../inspector/call-panel.tsx';
import { copyAs, languages } from '../inspector/copy-as.ts';

interface WriteEditorProps {
  bots: Bot[];
  /** The id of the account that sends. */
  business: string;
  onBusiness: (id: string) => void;
  user: PhoneSummary | undefined;
  apiUrl: string;
  online: boolean;
  onClose: () => void;
  /** Called with the id of the message. */
  onSent: (message: string) => void;
}

/** The quick replies in a text: one a line, or separated by commas. */
const repliesIn = (text: string): string[] =>
  text
    .split(/[\n,]/)
    .map((part) => part.trim())
    .filter(Boolean);

export const WriteEditor = (props: WriteEditorProps) => {
  const { bots, business, onBusiness, user, apiUrl, online, onClose, onSent } = props;
  const [to, setTo] = useState(user ? spacedNumber(user.phone) : '');
  const [text, setText] = useState('');
  const [replies, setReplies] = useState('');
  const [problem, setProblem] = useState('');
  const [busy, setBusy] = useState(false);
  const sending = useRef(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const toast = useToast();
  const { copied, copy } = useCopy();
  useEffect(() => field.current?.focus(), []);

  const parsed = parsePhone(to);
  const quick_replies = repliesIn(replies);
  const message = {
    to: 'phone' in parsed ? parsed.phone : to,
    type: 'text',
    text: { body: text },
    ...(quick_replies.length > 0 && { quick_replies }),
  };
  const call = {
    method: 'POST',
    origin: apiUrl,
    path: '/v1/message',
    headers: { authorization: 'Bearer $TOKEN', 'content-type': 'application/json' },
    body: JSON.stringify(message),
  };
  const send = async () => {
    if ('problem' in parsed) return setProblem(parsed.problem);
    if (sending.current || !online) return;
    sending.current = true;
    setBusy(true);
    setProblem('');
    await submitFor<{ id: string }>(`/businesses/${business}/messages`, message).then(
      ({ id }) => {
        toast('Sent.');
        onSent(id);
      },
      (error) => setProblem(describeError(error)),
    );
    sending.current = false;
    setBusy(false);
  };
  return (
    <article class="detail" aria-labelledby="write-title">
      <header class="detail-head">
        <Close onClose={onClose} label="Activity" />
        <h2 id="write-title">Message as a business</h2>
      </header>
      <form
        class="write"
        aria-labelledby="write-title"
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <label>
          From
          <select value={business} onChange={({ currentTarget }) => onBusiness(currentTarget.value)}>
            {bots.map(({ id, name, platform }) => (
              <option key={id} value={id}>
                {name} ({platform})
              </option>
            ))}
          </select>
        </label>
        <label>
          To
          <input
            inputMode="tel"
            value={to}
            aria-invalid={'problem' in parsed}
            onInput={({ currentTarget }) => setTo(currentTarget.value)}
          />
        </label>
        <label>
          Text
          <textarea
            ref={field}
            rows={4}
            dir="auto"
            required
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        </label>
        <label>
          Quick replies, separated by commas
          <input dir="auto" value={replies} onInput={({ currentTarget }) => setReplies(currentTarget.value)} />
        </label>
        <p class="problem" role="alert">
          {problem || ('problem' in parsed && to !== '' ? parsed.problem : '')}
        </p>
        <div class="call">
          <header class="call-head">
            <h3>Request</h3>
            <fieldset class="copy-as" aria-label="Copy as">
              {languages.map(({ name, label }) => (
                <button type="button" key={name} onClick={() => void copy(name, copyAs(name, call), copiedAs(label))}>
                  {copied === name && <Icon name="check" />}
                  {label}
                </button>
              ))}
            </fieldset>
          </header>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: who uses the keyboard has to reach it to scroll */}
          <section class="code-block" aria-label="Code" tabIndex={0}>
            <pre>
              <span class="code-method">POST</span> /v1/message{'\n'}
              <span class="code-key">authorization</span>: Bearer $TOKEN
            </pre>
            <pre>{JSON.stringify(message, null, 2)}</pre>
          </section>
        </div>
        <p class="row">
          <button type="submit" class="primary with-icon" disabled={busy || !online || text.trim() === ''}>
            <Icon name="send" />
            Send
          </button>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
        </p>
      </form>
    </article>
  );
};
