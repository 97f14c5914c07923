/** The values for the other side: each with a button that copies it, and a tick once it is copied. */
import { useState } from 'preact/hooks';
import type { ConnectionView } from '../../connect/views.ts';
import { Icon } from '../icons.tsx';
import { maskedSecret } from './words.ts';

type Field = ConnectionView['fields'][number];

interface ValuesProps {
  fields: Field[];
  /** The names of the fields that were copied. */
  copied: ReadonlySet<string>;
  onCopied: (field: string) => void;
  /** Without notes, and without the fields that stay empty. */
  short?: boolean;
}

export const Values = ({ fields, copied, onCopied, short = false }: ValuesProps) => {
  const [said, setSaid] = useState('');
  if (fields.length === 0) return null;
  const copy = async (text: string, names: string[]) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      setSaid('The browser does not allow copying. Select the value instead.');
      return;
    }
    for (const name of names) onCopied(name);
    setSaid(names.length === 1 ? `${names[0]} is copied.` : 'All values are copied.');
  };
  const filled = fields.filter(({ value }) => value !== '');
  return (
    <>
      <p class="copy-all">
        <button
          type="button"
          class="with-icon"
          onClick={() =>
            void copy(
              filled.map(({ field, value }) => `${field}: ${value}`).join('\n'),
              filled.map(({ field }) => field),
            )
          }
        >
          <Icon name="copy" />
          Copy all
        </button>
      </p>
      <dl class="connect-values">
        {(short ? filled : fields).map((field) => (
          <Row
            key={field.field}
            field={short ? { ...field, note: null } : field}
            isCopied={copied.has(field.field)}
            onCopy={() => void copy(field.value, [field.field])}
          />
        ))}
      </dl>
      <p class="copy-said" role="status">
        {said}
      </p>
    </>
  );
};

const Row = ({ field, isCopied, onCopy }: { field: Field; isCopied: boolean; onCopy: () => void }) => {
  const [isShown, setShown] = useState(false);
  const { field: name, value, secret, note } = field;
  return (
    <div class="value">
      <dt>
        {name}
        {secret && (
          <span class="secret-sign">
            <Icon name="lock" />
            Secret
          </span>
        )}
      </dt>
      <dd>
        <span class="value-text">
          {value === '' ? (
            <span class="quiet">Leave empty</span>
          ) : (
            <code>{secret && !isShown ? maskedValue(value) : value}</code>
          )}
          {note !== null && <span class="quiet">{note}</span>}
        </span>
        {secret && (
          <button
            type="button"
            class="icon-button"
            aria-pressed={isShown}
            title={isShown ? 'Hide' : 'Show'}
            onClick={() => setShown(!isShown)}
          >
            <Icon name={isShown ? 'hidden' : 'eye'} />
            <span class="unseen">Show {name}</span>
          </button>
        )}
        {value !== '' && (
          <button type="button" class={`icon-button ${isCopied ? 'copied' : ''}`} title="Copy" onClick={onCopy}>
            <Icon name={isCopied ? 'check' : 'copy'} />
            <span class="unseen">{isCopied ? `Copied: ${name}. Copy again` : `Copy ${name}`}</span>
          </button>
        )}
      </dd>
    </div>
  );
};

/** Of a URL, only the last segment is secret. */
const maskedValue = (value: string): string => {
  const end = value.lastIndexOf('/') + 1;
  return value.slice(0, end) + maskedSecret(value.slice(end));
};
