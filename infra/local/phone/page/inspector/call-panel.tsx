/** A call: its request, response and timing, and the request as a program. */
import { useState } from 'preact/hooks';
import { milliseconds } from '../../../../web/figures.ts';
import { Icon } from '../../../../web/icons.tsx';
import { useToast } from '../../../../web/toast.tsx';
import type { Call } from '../../traces/views.ts';
import { Menu } from '../shell/menu.tsx';
import { linesOf, tokensOf } from './body.ts';
import { copyAs, type Language, languages } from './copy-as.ts';

type Part = 'request' | 'response' | 'timing';

const parts: { name: Part; label: string }[] = [
  { name: 'request', label: 'Request' },
  { name: 'response', label: 'Response' },
  { name: 'timing', label: 'Timing' },
];

const COPIED_MS = 2_000;

/** Copies a text, and shows for two seconds what was copied. */
export const useCopy = (): { copied: string; copy: (name: string, text: string, said: string) => Promise<void> } => {
  const [copied, setCopied] = useState('');
  const toast = useToast();
  const copy = async (name: string, text: string, said: string) => {
    await navigator.clipboard.writeText(text).then(
      () => {
        setCopied(name);
        toast(said);
        setTimeout(() => setCopied(''), COPIED_MS);
      },
      () => toast('The browser does not allow copying.', 'bad'),
    );
  };
  return { copied, copy };
};

export const copiedAs = (label: string): string => `Copied as ${label}. It uses $TOKEN, not your token.`;

interface CallPanelProps {
  call: Call;
  showValues: boolean;
  /** What is shown first. */
  first?: Part;
}

export const CallPanel = ({ call, showValues, first = 'request' }: CallPanelProps) => {
  const [part, setPart] = useState<Part>(first);
  const { copied, copy } = useCopy();
  const ignored = call.response?.headers['ignored-fields'];
  const asProgram = (language: Language, label: string) => copy(language, copyAs(language, call), copiedAs(label));
  return (
    <div class="call">
      <header class="call-head">
        <fieldset class="call-parts" aria-label="Part of the call">
          {parts.map(({ name, label }) => (
            <button type="button" key={name} aria-pressed={name === part} onClick={() => setPart(name)}>
              {label}
            </button>
          ))}
        </fieldset>
        {part === 'request' && (
          <fieldset class="copy-as" aria-label="Copy as">
            <span class="quiet" aria-hidden="true">
              Copy as
            </span>
            {languages.map(({ name, label }) => (
              <button
                type="button"
                key={name}
                class={copied === name ? 'copied' : ''}
                onClick={() => void asProgram(name, label)}
              >
                {copied === name && <Icon name="check" />}
                {label}
              </button>
            ))}
          </fieldset>
        )}
        {part === 'response' && call.response && (
          <div class="copy-as">
            <button
              type="button"
              onClick={() => void copy('response', call.response?.body ?? '', 'Copied the body of the response.')}
            >
              <Icon name={copied === 'response' ? 'check' : 'copy'} />
              Copy
            </button>
          </div>
        )}
      </header>
      {ignored !== undefined && (
        <p class="quiet">The service does not know these fields, and has ignored them: {ignored}</p>
      )}
      {part === 'request' && (
        <Code first={`${call.method} ${call.path}`} headers={call.headers} body={call.body} showValues={showValues} />
      )}
      {part === 'response' &&
        (call.response ? (
          <Code
            first={`${call.response.status}`}
            headers={call.response.headers}
            body={call.response.body}
            showValues={showValues}
          />
        ) : (
          <p class="no-response">There was no response: the connection was closed, or the time was over.</p>
        ))}
      {part === 'timing' && <Timing call={call} />}
    </div>
  );
};

const Timing = ({ call: { time, ms, response } }: { call: Call }) => (
  <dl class="timing">
    <dt>Started</dt>
    <dd>{new Date(time).toISOString()}</dd>
    <dt>Took</dt>
    <dd>{milliseconds(ms)}</dd>
    <dt>Ended</dt>
    <dd>{response ? `with ${response.status}` : 'without a response'}</dd>
  </dl>
);

/** Lines that are shown at once. */
const LINES = 40;

interface CodeProps {
  /** The first line: method and path, or the status. */
  first: string;
  headers: Record<string, string>;
  body: string;
  showValues: boolean;
}

const Code = ({ first, headers, body, showValues }: CodeProps) => {
  const [all, setAll] = useState(false);
  const lines = linesOf(body, headers['content-type'] ?? '', showValues);
  const [start = '', ...rest] = first.split(' ');
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: who uses the keyboard has to reach it to scroll
    <section class="code-block" aria-label="Code" tabIndex={0}>
      <pre>
        <span class="code-method">{start}</span> {rest.join(' ')}
        {Object.entries(headers).map(([name, value]) => (
          <span key={name}>
            {'\n'}
            <span class="code-key">{name}</span>: {value}
          </span>
        ))}
      </pre>
      {lines.length > 0 && (
        <pre>
          {lines.slice(0, all ? lines.length : LINES).map((line, place) => (
            <span key={place}>
              {tokensOf(line).map(({ text, kind }, at) => (
                <span key={at} class={`code-${kind}`}>
                  {text}
                </span>
              ))}
              {'\n'}
            </span>
          ))}
        </pre>
      )}
      {lines.length > LINES && !all && (
        <button type="button" class="text-button" onClick={() => setAll(true)}>
          Show all {lines.length} lines
        </button>
      )}
    </section>
  );
};

/** On a small page: a button that copies the request as a program. */
export const CopyMenu = ({ call }: { call: Call }) => {
  const { copy } = useCopy();
  return (
    <Menu
      label="Copy the request"
      look="with-icon"
      face={
        <>
          <Icon name="terminal" />
          Copy as …
          <Icon name="chevron" />
        </>
      }
    >
      {(close) =>
        languages.map(({ name, label }) => (
          <button
            type="button"
            key={name}
            onClick={() => {
              close();
              void copy(name, copyAs(name, call), copiedAs(label));
            }}
          >
            {label}
          </button>
        ))
      }
    </Menu>
  );
};

interface ValueSwitchProps {
  isOn: boolean;
  onChange: (isOn: boolean) => void;
}

/** The switch that shows the values of a user, which are masked at first. */
export const ValueSwitch = ({ isOn, onChange }: ValueSwitchProps) => (
  <p class="values">
    <button type="button" class="with-icon" aria-pressed={isOn} onClick={() => onChange(!isOn)}>
      <Icon name={isOn ? 'hidden' : 'eye'} />
      {isOn ? 'Hide values' : 'Show values'}
    </button>
  </p>
);
