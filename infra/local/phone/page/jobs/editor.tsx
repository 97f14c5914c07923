/** The editor of a new job. The business sends it by the API, as it would from its own program. */
import { useRef, useState } from 'preact/hooks';
import type { Bot } from '../../views.ts';
import { describeError, submitFor } from '../data/api.ts';
import { Icon } from '../icons.tsx';
import { figure, messages, numbersIn, people } from './words.ts';

interface EditorProps {
  bots: Bot[];
  online: boolean;
  onClose: () => void;
  /** Called with the id of the job. */
  onSent: (job: string) => void;
}

const MOST = 10_000;
const DEFAULT_MADE_UP = 250;

export const Editor = ({ bots, online, onClose, onSent }: EditorProps) => {
  const [business, setBusiness] = useState(bots[0]?.id ?? '');
  const [text, setText] = useState('');
  const [madeUp, setMadeUp] = useState(true);
  const [count, setCount] = useState(DEFAULT_MADE_UP);
  const [pasted, setPasted] = useState('');
  const [priority, setPriority] = useState('medium');
  const [later, setLater] = useState('');
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState('');
  const form = useRef<HTMLFormElement>(null);

  const { numbers, repeats, invalid } = numbersIn(pasted);
  const size = madeUp ? count : numbers.length;
  const options = { priority, ...(later && { send_at: new Date(later).toISOString() }) };

  const send = async () => {
    setBusy(true);
    setProblem('');
    try {
      const { job_id } = await submitFor<{ job_id: string }>(`/businesses/${business}/jobs`, {
        text,
        ...(madeUp ? { made_up: count } : { to: numbers }),
        ...options,
      });
      onSent(job_id);
    } catch (error) {
      setProblem(describeError(error));
      setBusy(false);
    }
  };

  return (
    <form
      class="detail editor"
      aria-labelledby="editor-title"
      ref={form}
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <header class="detail-head">
        <button type="button" class="icon-button close" title="Close" onClick={onClose}>
          <Icon name="close" />
          <Icon name="back" />
          <span class="unseen">Close</span>
        </button>
        <h2 id="editor-title">New job</h2>
      </header>
      <div class="block fields">
        <label>
          Send as
          <select value={business} onChange={({ currentTarget }) => setBusiness(currentTarget.value)}>
            {bots.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label>
          Message
          <textarea
            ref={focusFirst}
            required
            rows={3}
            maxLength={4096}
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        </label>
        <fieldset>
          <legend>Recipients</legend>
          <div class="choices">
            <label>
              <input type="radio" name="recipients" checked={madeUp} onChange={() => setMadeUp(true)} />
              Made-up users
            </label>
            <label>
              <input type="radio" name="recipients" checked={!madeUp} onChange={() => setMadeUp(false)} />
              Phone numbers
            </label>
          </div>
          {madeUp ? (
            <>
              <label for="made-up">How many</label>
              <input
                id="made-up"
                aria-describedby="recipients-hint"
                type="number"
                required
                min={1}
                max={MOST}
                value={count}
                onInput={({ currentTarget }) => setCount(currentTarget.valueAsNumber || 0)}
              />
              <p class="quiet" id="recipients-hint">
                Most of them get the message, and more than half read it.
              </p>
            </>
          ) : (
            <>
              <label for="numbers">Numbers, separated by lines or commas</label>
              <textarea
                id="numbers"
                aria-describedby="recipients-hint"
                required
                rows={4}
                placeholder="447700900001"
                value={pasted}
                onInput={({ currentTarget }) => setPasted(currentTarget.value)}
              />
              <p class={invalid.length > 0 ? 'problem' : 'quiet'} id="recipients-hint">
                {sumUp({ numbers, repeats, invalid })}
              </p>
            </>
          )}
        </fieldset>
        <div class="pair">
          <label>
            Priority
            <select value={priority} onChange={({ currentTarget }) => setPriority(currentTarget.value)}>
              <option value="high">High</option>
              <option value="medium">Medium</option>
              <option value="low">Low</option>
            </select>
          </label>
          <div class="field">
            <label for="start">Start</label>
            <input
              id="start"
              type="datetime-local"
              aria-describedby="start-hint"
              value={later}
              onInput={({ currentTarget }) => setLater(currentTarget.value)}
            />
            <p class="quiet" id="start-hint">
              Empty: now
            </p>
          </div>
        </div>
      </div>
      <section class="block">
        <h3>Request</h3>
        <pre class="request">{`POST /v1/message\n${requestOf({ text, numbers, count, madeUp, options })}`}</pre>
      </section>
      <footer class="block actions">
        <p class="problem" role="alert">
          {problem}
        </p>
        <button
          type="submit"
          class="primary"
          disabled={busy || !online || size === 0 || (!madeUp && invalid.length > 0)}
        >
          Send to {people(size)}
        </button>
      </footer>
    </form>
  );
};

/** The focus begins in the text of the message. */
const focusFirst = (field: HTMLTextAreaElement | null): void => {
  if (field && field.value === '' && document.activeElement?.closest('.editor') === null) field.focus();
};

const sumUp = ({ numbers, repeats, invalid }: ReturnType<typeof numbersIn>): string => {
  const [first] = invalid;
  if (first !== undefined)
    return `${first.slice(0, 30)} is not a phone number: 7 to 15 digits, in international format.`;
  if (numbers.length > MOST) return `${figure(numbers.length)} numbers, at most ${figure(MOST)}`;
  return `${messages(numbers.length)}${repeats > 0 ? `, ${figure(repeats)} repeated` : ''}`;
};

interface Draft {
  text: string;
  numbers: string[];
  count: number;
  madeUp: boolean;
  options: object;
}

/** The body of the request, with its first recipients. */
const requestOf = ({ text, numbers, count, madeUp, options }: Draft): string => {
  const all = madeUp ? count : numbers.length;
  const to = madeUp ? ['99900000001', '99900000002'].slice(0, count) : numbers.slice(0, 2);
  const shown = JSON.stringify({ to, type: 'text', text: { body: shortened(text) }, ...options }, null, 2);
  const rest = all - to.length;
  return rest > 0 ? shown.replace(/\n {2}\],/, `,\n    … ${figure(rest)} more\n  ],`) : shown;
};

/** Most characters of the message that the request shows. */
const SHOWN = 200;

const shortened = (text: string): string => (text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text);
