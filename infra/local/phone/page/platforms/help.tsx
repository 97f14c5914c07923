/** Where to click in the platform, and its form with the values. */
import type { ConnectionView } from '../../connect/views.ts';
import { Icon } from '../icons.tsx';
import { maskedSecret, titles } from './words.ts';

export const Help = ({ connection: { platform, steps, form, fields } }: { connection: ConnectionView }) => {
  const entered = fields.filter(({ value }) => value !== '');
  return (
    <section class="where" aria-label={`Where to click in ${titles[platform]}`}>
      <h3>
        <Icon name="list" />
        {platform === 'webhook' ? 'What your server does' : `Where to click in ${titles[platform]}`}
      </h3>
      <ol>
        {steps.map((step) => (
          <li key={step}>{step}</li>
        ))}
      </ol>
      {entered.length > 0 && (
        // The values are in the table of the wizard: a screen reader needs them once.
        <div class="drawn-form" aria-hidden="true">
          <strong>{form}</strong>
          {entered.map(({ field, value, secret }) => (
            <p key={field}>
              {field}
              <code>{secret ? maskedSecret(value) : value}</code>
            </p>
          ))}
        </div>
      )}
    </section>
  );
};
