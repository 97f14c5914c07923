/** Names of chat platforms, why a webhook or a platform failed, and what can be done. */

/** The name of a chat platform, by its id: `turn` is Turn. */
export const platformName = (id: string): string =>
  id === 'rapidpro' ? 'RapidPro' : `${id.charAt(0).toUpperCase()}${id.slice(1)}`;

/** What helps against a failure: a button of the webhook. */
type Fix = 'change' | 'rotate';

interface Cause {
  text: string;
  remedy?: string;
  fix?: Fix;
}

const causes: Record<string, Cause> = {
  timeout: {
    text: 'Your server did not respond within 10 seconds.',
    remedy: 'Let it respond as soon as it has stored an event, and do the work afterwards.',
  },
  no_connection: {
    text: 'Your server could not be reached.',
    remedy: 'Check that it runs, that the host in the URL is right, and that its certificate is valid.',
  },
  invalid_response: {
    text: 'Your server’s response is not valid HTTP.',
    remedy: 'Check that the port in the URL is that of your web server.',
    fix: 'change',
  },
  address_not_public: {
    text: 'The URL leads to an address that is not public.',
    remedy: 'Enter a URL that the internet can reach.',
    fix: 'change',
  },
  address_not_https: { text: 'The URL does not begin with https.', remedy: 'Enter an https URL.', fix: 'change' },
  not_set_up: { text: 'The webhook lacks a setting.', remedy: 'Enter its URL again.', fix: 'change' },
  circuit_open: {
    text: 'All requests to the webhook failed for three days, so this event was not tried again.',
    remedy: 'Correct your server, then send the failed events again.',
  },
};

/** What a status of the webhook means. */
const causeOfStatus = (status: number): Cause => {
  const text = (meaning: string) => `Your server ${meaning} (status ${status}).`;
  if (status >= 300 && status < 400) {
    return {
      text: text('redirects requests to another address'),
      remedy: 'Enter that address: redirects are not followed.',
      fix: 'change',
    };
  }
  if (status === 404 || status === 405) {
    return {
      text: text('does not know this address'),
      remedy: 'Compare the URL with that of your server.',
      fix: 'change',
    };
  }
  if (status === 401 || status === 403) {
    return {
      text: text('rejects the requests'),
      remedy: 'Check how it verifies the signature, and that it has the present secret. Else replace the secret.',
      fix: 'rotate',
    };
  }
  if (status === 410) {
    return {
      text: text('has said that nobody wants these events any more'),
      remedy: 'No request is made until you enable the webhook again. Its events wait for three days.',
    };
  }
  if (status === 429) return { text: text('asks for fewer requests') };
  if (status >= 500) {
    return {
      text: text('has an error'),
      remedy: 'Its log says more. Correct it, then try again.',
    };
  }
  return { text: text('rejected the event'), remedy: 'Its response, or its log, says why.' };
};

/** A code of the API (`status_404`, `timeout`) in plain words. */
export const causeOf = (code: string | undefined): Cause => {
  const status = /^status_(\d{3})$/.exec(code ?? '')?.[1];
  if (status !== undefined) return causeOfStatus(Number(status));
  return causes[code ?? ''] ?? { text: 'The last requests failed.' };
};
