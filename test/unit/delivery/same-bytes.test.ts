/** A retry and a replay send the same bytes as the first attempt, in whichever order the table returns the fields of an entry. */
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { appNetwork } from '../../../shared/destinations/app-network.ts';
import type { Destination } from '../../../shared/destinations/destination.ts';
import { endpointDestination } from '../../../shared/destinations/endpoints.ts';
import { rapidpro } from '../../../shared/destinations/rapidpro.ts';
import { turn } from '../../../shared/destinations/turn.ts';
import { webhook } from '../../../shared/destinations/webhook.ts';
import type { Content, Entry, OutboxEvent } from '../../../shared/outbox/event.ts';
import type { Message } from '../../../shared/outbox/message.ts';
import { useSecret } from '../../stack/support/own-table.ts';
import { lifetime } from '../../support/lifetime.ts';

const secret = `whsec_${randomBytes(32).toString('base64')}`;

useSecret(() => JSON.stringify({ url: 'https://app.example.com/', secret }));

beforeEach(() => {
  vi.stubEnv('JID_DOMAIN', 'users.example.com');
  vi.stubEnv('BRIDGE_URL', 'https://bridge.example.com');
  vi.stubEnv('AWS_REGION', 'us-east-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'test');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test');
  vi.useFakeTimers({ now: Date.UTC(2030, 0, 1), toFake: ['Date'] });
});

afterEach(() => {
  vi.unstubAllEnvs();
  vi.useRealTimers();
});

const messageOf = (platform: string): Message => ({
  id: 'message-1',
  account: 'acme',
  phone: '27821234567',
  job_id: 'job-1',
  payload_type: 'text',
  ...lifetime,
  reported: true,
  origin: { platform, id: '21', generation: 1 },
});

const contents: Content[] = [
  { type: 'text', text: { body: 'Zoë 😀' } },
  { type: 'image', image: { url: 'https://bridge.example.com/media/1' } },
  { type: 'file', file: { url: 'https://bridge.example.com/media/2' } },
];

const ENDPOINT = 'endpoint-1';
const user = { account: 'acme', phone: '27821234567' };
const request = { id: 'request-1', ...user };
const created = '2030-01-01T00:00:01.000000';

/** Events of each type, for a message of a platform. */
const eventsOn = (platform: string): { [Type in OutboxEvent['type']]: Extract<OutboxEvent, { type: Type }>[] } => {
  const message = messageOf(platform);
  return {
    'message.send': contents.map((content) => ({
      ...{ type: 'message.send', message, from: '27820000000', content, quick_replies: ['Yes', 'No'] },
      valid_until: created,
    })),
    'message.received': contents.map((content) => ({ type: 'message.received', message, to: '27820000000', content })),
    'message.state': (['delivered_to_server', 'delivered_to_user', 'read', 'delivery_failed'] as const).map(
      (state) => ({ type: 'message.state', message, state, created }),
    ),
    'user_data.request': [
      {
        ...{ type: 'user_data.request', request, business: 'Acme', reason: 'To greet you', valid_days: 30 },
        properties: [
          { property: 'first_name', reason: 'Your name', required: true },
          { property: 'last_name', required: false },
        ],
      },
    ],
    'user_data.completed': [{ type: 'user_data.completed', request, completed: created }],
    'user_data.ended': [
      {
        type: 'user_data.ended',
        request,
        status: 'withdrawn',
        properties: ['last_name', 'first_name'],
        ended: created,
      },
    ],
    'account.updated': [
      { type: 'account.updated', account: 'acme', bot: '27820000000', name: 'Acme', avatar: 'avatar-1' },
    ],
    'user.stopped': [{ type: 'user.stopped', user }],
    'user.state': [{ type: 'user.state', user, state: 'stopped' }],
    'webhook.test': [{ type: 'webhook.test', account: 'acme' }],
  };
};

/** A value as the table may return it: the fields of each object in another order. Ranks decide the order. */
const reordered = (value: unknown, ranks: readonly number[]): unknown => {
  if (Array.isArray(value)) return value.map((one: unknown) => reordered(one, ranks));
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map(([name, one], index) => ({ name, one, rank: ranks[index % ranks.length] }));
  return Object.fromEntries(
    fields
      .sort((a, b) => (a.rank ?? 0) - (b.rank ?? 0) || (a.name < b.name ? 1 : -1))
      .map(({ name, one }) => [name, reordered(one, ranks)]),
  );
};

const destinations: [string, () => Promise<Pick<Destination, 'buildRequest'>>][] = [
  ['app', appNetwork],
  ['webhook', async () => webhook({ url: 'https://customer.example.com/hook', secret })],
  [
    'endpoint',
    async () =>
      endpointDestination({
        ...{ id: ENDPOINT, number: 1, url: 'https://customer.example.com/events', secret, version: 2 },
        ...{ created, updated: created },
      }),
  ],
  ['turn', async () => turn({ channel: 'channel', token: 'token' })],
  ['rapidpro', async () => rapidpro({ url: 'https://flows.example.com/c/ex/1/receive' })],
];

test.each(destinations)('each event has the same request in each attempt: %s', async (name, find) => {
  const { buildRequest } = await find();
  const entries = Object.values(eventsOn(name))
    .flat()
    .map(
      (outgoing): Entry => ({
        pk: 'OUTBOX#x',
        sk: 'ENTRY#entry-1',
        id: 'entry-1',
        created: '2030-01-01T00:00:00.000000',
        outgoing,
        ...(name === 'endpoint' && { copy: { endpoint: ENDPOINT, event: 'event-1', bot: '27820000000' } }),
      }),
    );
  const built = entries.map((entry) => buildRequest(entry));
  expect(built.some((one) => one !== undefined)).toBe(true);
  fc.assert(
    fc.property(
      fc.array(fc.nat(9), { minLength: 1, maxLength: 12 }),
      fc.constantFrom(...entries.keys()),
      (ranks, index) => {
        const read = reordered(JSON.parse(JSON.stringify(entries[index])), ranks) as Entry;
        expect(buildRequest(read)).toEqual(built[index]);
      },
    ),
  );
});
