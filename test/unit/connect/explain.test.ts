/** The causes and fixes of failed checks: each failure has its own, and no text contains a path, which may be secret. */
import { expect, test } from 'vitest';
import { explainNoResponse, explainServer, explainService } from '../../../infra/operator/connect/explain.ts';
import { DeliveryError } from '../../../shared/destinations/http/request.ts';

const SECRET = 'c2VjcmV0';
const URL_WITH_SECRET = `https://turn.example.com:8443/v1/webhook/turn/${SECRET}`;

const error = (code: string): DeliveryError =>
  new DeliveryError('no_connection', { cause: Object.assign(new Error('text of Node.js'), { code }) });

test.each<[what: string, error: DeliveryError, cause: RegExp, fix: RegExp]>([
  ['an unknown host', error('ENOTFOUND'), /^DNS has no address for turn\.example\.com \(ENOTFOUND\)\.$/, /spelling/],
  ['a DNS server that does not answer', error('EAI_AGAIN'), /^DNS has no address/, /some minutes/],
  ['an expired certificate', error('CERT_HAS_EXPIRED'), /certificate .* has expired/, /^Renew/],
  ['another host in the certificate', error('ERR_TLS_CERT_ALTNAME_INVALID'), /for another host name/, /host name/],
  ['a self-signed certificate', error('DEPTH_ZERO_SELF_SIGNED_CERT'), /is not trusted/, /public authority/],
  ['a missing intermediate certificate', error('UNABLE_TO_VERIFY_LEAF_SIGNATURE'), /is not trusted/, /intermediate/],
  ['http on the port of https', error('EPROTO'), /does not answer in TLS/, /port/],
  ['http on the port of https, in OpenSSL 3', error('ERR_SSL_WRONG_VERSION_NUMBER'), /does not answer in TLS/, /port/],
  ['a closed port', error('ECONNREFUSED'), /refuses connections/, /server runs/],
  ['a closed connection', error('ECONNRESET'), /closed the connection without a response \(ECONNRESET\)/, /firewall/],
  ['a closed connection without a code', new DeliveryError('no_connection'), /without a response\.$/, /firewall/],
  ['a time-out', new DeliveryError('timeout'), /no response .* within 10 seconds/, /firewall/],
  ['another protocol', new DeliveryError('invalid_response'), /not valid HTTP/, /port/],
  ['a private address', new DeliveryError('address_not_public'), /not public/, /internet/],
  ['a URL without https', new DeliveryError('address_not_https'), /does not begin with https/, /https/],
  ['incomplete settings', new DeliveryError('not_set_up'), /incomplete/, /required/],
])('a check names the cause and the fix of %s, without the path of the URL', (_what, failure, cause, fix) => {
  const explained = explainNoResponse(failure, URL_WITH_SECRET);
  expect(explained).toEqual({ cause: expect.stringMatching(cause), fix: expect.stringMatching(fix) });
  expect(JSON.stringify(explained)).not.toMatch(new RegExp(`${SECRET}|text of Node`));
});

test.each<[status: number, cause: RegExp, fix: RegExp]>([
  [302, /redirects to another URL \(302\)/, /final URL/],
  [500, /fails \(500\)/, /some minutes/],
  [503, /fails \(503\)/, /some minutes/],
])('a check names the cause and the fix of status %i of any platform', (status, cause, fix) => {
  expect(explainServer({ status, body: '' })).toEqual({
    cause: expect.stringMatching(cause),
    fix: expect.stringMatching(fix),
  });
});

test.each([200, 299, 400, 499])('the platform interprets status %i', (status) => {
  expect(explainServer({ status, body: '' })).toBeUndefined();
});

test.each<[what: string, status: number, body: string, cause: RegExp, fix: RegExp]>([
  ['no token', 401, '{"message":"Unauthorized"}', /no token/, /Authorization header/],
  ['a wrong token', 403, '{"message":"Forbidden"}', /mistyped, revoked or expired/, /new token/],
  ['a token without the permission', 403, '{"code":"permission_required"}', /permission "bridge"/, /Issue a token/],
  ['another host', 404, '{"message":"Not Found"}', /does not serve the bridge/, /bridge host/],
  ['the limit of the account', 503, '{"code":"unavailable"}', /limit/, /in a minute/],
  ['throttling', 429, '', /limit/, /in a minute/],
  ['a failing service', 500, '', /returned 500/, /log of the service/],
])("a check names the cause and the fix of the service's response: %s", (_what, status, body, cause, fix) => {
  expect(explainService('RapidPro', "RapidPro's Authorization header", { status, body })).toEqual({
    cause: expect.stringMatching(cause),
    fix: expect.stringMatching(fix),
  });
});
