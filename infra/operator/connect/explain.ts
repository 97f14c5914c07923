/** Why a check of a connection failed, and what to do: a cause and a fix, in sentences without secrets. */
import type { DeliveryError } from '../../../shared/destinations/http/request.ts';
import type { CheckedResponse, Explanation } from '../../../shared/destinations/setup.ts';

/** Why there was no response from a URL. Only its host is named, because a path may be secret. */
export const explainNoResponse = (error: DeliveryError, url: string): Explanation => {
  const { host, hostname } = URL.parse(url) ?? { host: 'the URL', hostname: 'the URL' };
  switch (error.reason) {
    case 'timeout':
      return {
        cause: `There was no response from ${host} within 10 seconds.`,
        fix: 'Check that the server runs, and that its firewall allows calls from the internet.',
      };
    case 'invalid_response':
      return {
        cause: `The response of ${host} is not valid HTTP.`,
        fix: 'Check the port of the URL, and the proxy before the server.',
      };
    case 'address_not_public':
      return {
        cause: `The IP address of ${host} is not public, so the service does not call it.`,
        fix: 'Use a URL that the internet can reach.',
      };
    case 'address_not_https':
      return { cause: 'The URL does not begin with https.', fix: 'Use the https URL of the server.' };
    case 'not_set_up':
      return { cause: 'The settings are incomplete.', fix: 'Enter all required settings.' };
    case 'no_connection':
      return explainConnection(codeOf(error.cause), host, hostname);
  }
};

const codeOf = (cause: unknown): string =>
  cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : '';

const DNS = /^(ENOTFOUND|EAI_AGAIN|ENODATA)$/;
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_|^ERR_TLS_/;

const explainConnection = (code: string, host: string, hostname: string): Explanation => {
  if (DNS.test(code)) {
    return {
      cause: `DNS has no address for ${hostname} (${code}).`,
      fix: 'Check the spelling of the host name. A new name may take some minutes to be found.',
    };
  }
  if (code === 'CERT_HAS_EXPIRED') {
    return { cause: `The TLS certificate of ${host} has expired.`, fix: 'Renew the certificate of the server.' };
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return {
      cause: `The TLS certificate of ${host} is for another host name.`,
      fix: 'Use the host name of the certificate, or install a certificate for this one.',
    };
  }
  if (CERTIFICATE.test(code)) {
    return {
      cause: `The TLS certificate of ${host} is not trusted (${code}).`,
      fix: 'Install a certificate of a public authority, with its intermediate certificates.',
    };
  }
  if (code === 'EPROTO' || code.startsWith('ERR_SSL')) {
    return {
      cause: `${host} does not answer in TLS (${code}).`,
      fix: 'Check the port of the URL: https needs a port that serves TLS.',
    };
  }
  if (code === 'ECONNREFUSED') {
    return {
      cause: `${host} refuses connections.`,
      fix: 'Check that the server runs, and the port of the URL.',
    };
  }
  return {
    cause: `${host} closed the connection without a response${code === '' ? '' : ` (${code})`}.`,
    fix: 'Check the server, its firewall, and the port of the URL.',
  };
};

/** Why a response shows that a server does not work, whatever it serves: a redirect, or 5xx. */
export const explainServer = ({ status }: CheckedResponse): Explanation | undefined => {
  if (status >= 500) {
    return {
      cause: `The server fails (${status}).`,
      fix: 'Check again in some minutes. If it goes on, ask those who run the server.',
    };
  }
  if (status < 300 || status >= 400) return undefined;
  return {
    cause: `The server redirects to another URL (${status}), which the service does not follow.`,
    fix: 'Enter the final URL.',
  };
};

/**
 * Why the service rejected a request that was sent as the platform would send it.
 *
 * @param title - the platform's name
 * @param place - the field of the platform's form that contains the token
 */
export const explainService = (title: string, place: string, { status, body }: CheckedResponse): Explanation => {
  if (status === 401) {
    return { cause: 'The request has no token.', fix: `Enter the token in ${place}.` };
  }
  if (status === 403 && body.includes('permission_required')) {
    return {
      cause: 'The token does not have the permission "bridge".',
      fix: `Issue a token with the permission "bridge", and enter it in ${title}.`,
    };
  }
  if (status === 403) {
    return {
      cause: 'The token is not valid: it is mistyped, revoked or expired, or it belongs to another deployment.',
      fix: `Issue a new token, and enter it in ${place}.`,
    };
  }
  if (status === 404) {
    return {
      cause: 'The host does not serve the bridge.',
      fix: 'Use the URL of the bridge host, not of the API host.',
    };
  }
  if (status === 429 || (status === 503 && body.includes('"unavailable"'))) {
    return {
      cause: `The account makes more requests than its limit allows (${status}).`,
      fix: 'Check again in a minute, or raise the limit with "account update --rate".',
    };
  }
  return {
    cause: `The service returned ${status}.`,
    fix: 'Check again in a minute. If it goes on, search the log of the service for the time of the check.',
  };
};
