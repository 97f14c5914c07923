/** The causes and fixes of failed checks: each failure has its own, and no text contains a path, which may be secret. */
import { expect, test } from 'vitest';
import { explainNoResponse, explainPlatform, explainService } from '../../../infra/operator/connect/explain.ts';
import type { PlatformName } from '../../../shared/accounts/platform-settings.ts';
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

const RECEIVE = 'https://rapidpro.example.com/c/ex/1d3f/receive';
const MISTYPED = 'https://rapidpro.example.com/c/ex/1d3f/recieve';
const MESSAGES = 'https://whatsapp.turn.io/v1/numbers/8c1a/messages';
const HOOK = 'https://example.com/hook';

const channelError = JSON.stringify({ message: 'Error', data: [{ type: 'error', error: 'channel not found' }] });
const databaseError = JSON.stringify({ message: 'Error', data: [{ error: 'dial tcp 10.0.0.5:5432: i/o timeout' }] });

test.each<[PlatformName, what: string, url: string, status: number, body: string, cause: RegExp, fix: RegExp]>([
  ['rapidpro', 'a mistyped URL', MISTYPED, 404, '', /yours ends with \/recieve\.$/, /Copy the receive URL/],
  ['rapidpro', 'an inactive channel', RECEIVE, 400, channelError, /inactive or deleted/, /channel exists/],
  ['rapidpro', 'an unknown channel', RECEIVE, 404, channelError, /no such channel/, /channel exists/],
  ['rapidpro', 'a database that is down', RECEIVE, 400, databaseError, /database/, /some minutes/],
  ['rapidpro', 'an unknown path', RECEIVE, 404, '', /^No channel has this URL\.$/, /Copy the receive URL/],
  ['rapidpro', 'a password', RECEIVE, 401, '', /asks for a password/, /\/c\/ex\//],
  ['rapidpro', 'a firewall', RECEIVE, 403, '', /blocks the service \(403\)/, /\/c\/ex\//],
  ['rapidpro', 'a redirect', RECEIVE, 302, '', /redirects/, /final URL/],
  ['rapidpro', 'a failing server', RECEIVE, 503, '', /fails \(503\)/, /some minutes/],
  ['rapidpro', 'another server', RECEIVE, 200, '', /not a receive URL.* returned 200/, /ends with \/receive/],
  ['turn', 'a wrong token', MESSAGES, 401, '', /refuses the token \(401\)/, /authentication token/],
  ['turn', 'a token of another number', MESSAGES, 403, '', /refuses the token \(403\)/, /of this channel/],
  ['turn', 'an unknown channel', MESSAGES, 404, '', /no such channel/, /UUID/],
  ['turn', 'a failing server', MESSAGES, 502, '', /fails \(502\)/, /some minutes/],
  ['turn', 'another server', MESSAGES, 200, '', /not Turn's API/, /Turn's URL/],
  ['webhook', 'a wrong secret', HOOK, 401, '', /refuses the signed request/, /secret/],
  ['webhook', 'an unknown path', HOOK, 404, '', /no such URL/, /path/],
  ['webhook', 'a failing server', HOOK, 500, '', /fails \(500\)/, /some minutes/],
  ['webhook', 'a rejected event', HOOK, 422, '', /returned 422/, /2xx/],
])("a check names the cause and the fix of %s's response: %s", (platform, _what, url, status, body, cause, fix) => {
  expect(explainPlatform(platform, url, { status, body })).toEqual({
    cause: expect.stringMatching(cause),
    fix: expect.stringMatching(fix),
  });
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
  expect(explainService('rapidpro', { status, body })).toEqual({
    cause: expect.stringMatching(cause),
    fix: expect.stringMatching(fix),
  });
});

test("a fix for Turn names Turn's URL as the place of the token", () => {
  expect(explainService('turn', { status: 403, body: '' }).fix).toContain("Turn's URL");
});
