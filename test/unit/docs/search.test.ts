/** The search of the site: what it finds first. */
import { expect, test } from 'vitest';
import { indexOf, searchIn } from '../../../infra/docs/site/search.ts';
import { type Entry, entriesOf, SYNONYMS } from '../../../infra/docs/site/search-entries.ts';
import { buildSite } from '../../../infra/docs/site/site.ts';
import { apiDescription } from '../../../shared/api/openapi/description.ts';

const hosts = { base: 'https://api.example.com', bridge: 'https://bridge.example.com' };
const site = await buildSite({ base_url: hosts.base, bridge_url: hosts.bridge }, apiDescription(hosts));
const entries: Entry[] = JSON.parse(String(site.get('search.json')?.body));
const index = indexOf(entries);

test.each([
  ['pagination', 'messages.html#logs-and-jobs'],
  ['timezone', 'messages.html#sending-hours'],
  ['time zone', 'messages.html#sending-hours'],
  ['sandbox', 'quick-start.html#run-the-local-stack'],
  ['webhook signature', 'webhook.html'],
  ['SDK', 'generate.html'],
  ['MCP', 'mcp.html'],
  ['user_data.ended', 'reference-receive-user-data-ended.html'],
  ['rate limit', 'errors.html#request-limit'],
  ['retry', 'how-it-works.html#retry-schedule'],
  ['deploy', 'quick-start.html#deploy-to-aws'],
  ['token', 'business.html#token'],
  ['when consent ends', 'user-data.html#when-consent-ends'],
  ['idempotency_key_reused', 'errors.html#idempotency_key_reused'],
  ['https://example.com/v1/openapi.json#/components/responses/job_cancelled', 'errors.html#job_cancelled'],
  ['glossary', 'glossary.html'],
])('the first hit for "%s" is %s', (words, url) => {
  expect(searchIn(index, words)[0]?.url).toBe(url);
});

test('guides for users are above those for operators, and these above those for contributors', () => {
  const page = (path: string) => ({ path, title: 'Page', html: '<h2 id="parts">Parts</h2><p>about parts</p>' });
  const paths = ['decisions.html', 'restore.html', 'messages.html'];
  const found = searchIn(indexOf(entriesOf(paths.map(page), [])), 'parts');
  expect(found.map(({ url }) => url)).toEqual(paths.toReversed().map((path) => `${path}#parts`));
});

test('a section about MCP is the first hit for its other names', () => {
  const html = '<h2 id="mcp">Use MCP</h2><p>how</p><h2 id="agents">Others</h2><p>agent, model, context, protocol</p>';
  const own = indexOf(entriesOf([{ path: 'messages.html', title: 'Messages', html }], []));
  for (const words of ['MCP', 'model context protocol', 'agent']) {
    expect(searchIn(own, words)[0]?.url, words).toBe('messages.html#mcp');
  }
});

test.each(Object.keys(SYNONYMS))('one section with synonyms is headed "%s"', (heading) => {
  expect(entries.filter(({ title, weight }) => title === heading && weight === 1)).toHaveLength(1);
});
