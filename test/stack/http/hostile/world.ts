/**
 * Two independent accounts, each with every kind of data. The data of each contains unique texts: a response with a text
 * of the other account reveals its data.
 */
import { randomUUID } from 'node:crypto';
import { vi } from 'vitest';
import { exampleDelivery } from '../../../../infra/local/documentation/example-delivery.ts';
import { createAccount, updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { recountJobs } from '../../../../infra/operator/queries/job-recount.ts';
import { issuePortalCode } from '../../../../infra/operator/queries/portal-codes.ts';
import { issueToken } from '../../../../infra/operator/queries/tokens-admin.ts';
import { sortableTime } from '../../../../shared/core/clock.ts';
import { newId } from '../../../../shared/core/ids.ts';
import { type Permission, permissions } from '../../../../shared/core/permissions.ts';
import { attemptIdOf } from '../../../../shared/delivery/entities.ts';
import { conversationName, headKey } from '../../../../shared/outbox/entities.ts';
import { putAll, update } from '../../../../shared/table/client.ts';
import { updateUser } from '../../../../shared/users/users.ts';
import { addOffer } from '../../../support/example-offer.ts';
import { UNLIMITED } from '../../../support/unlimited.ts';
import { png } from '../../support/files.ts';
import type { OwnStack } from '../../support/own-stack.ts';
import { newAccountId, newPanelist, newPhone } from '../../support/world.ts';
import type { Host } from './description.ts';
import type { Caller } from './wire.ts';

export interface World {
  /** Valid values of fields and parameters, by operation and name (`readMedia.id`), or only by name. */
  known: ReadonlyMap<string, readonly string[]>;
  /** A token of each caller, with all permissions. */
  tokens: Record<Exclude<Caller, 'nobody'>, string>;
  /** Tokens of our account without a permission, by that permission. */
  lacking: ReadonlyMap<string, string>;
  /** Texts that must not occur in a response to a caller. */
  secrets: Record<Caller, readonly string[]>;
  /** Names of the tokens, for output that is equal in each run. */
  named: ReadonlyMap<string, string>;
}

/** The data of an account after requests to all endpoints. */
interface Estate {
  account: string;
  token: string;
  bot: string;
  user: string;
  profiler: string;
  /** Two options' ids. */
  options: [string, string];
  request: string;
  /** A request whose consent has ended. */
  ended: string;
  media: string;
  /** The cursor of the log's second page. */
  cursor: string;
  message: string;
  job: string;
  /** A failed delivery, and the cursor of the second page of deliveries. */
  delivery: string;
  deliveries: string;
  /** The cursors of the second pages of user data requests, receipts and jobs. */
  requests: string;
  receipts: string;
  jobs: string;
  /** Claims of a listener. */
  claims: string[];
  /** The app network's id of the user. */
  userId: string;
  secrets: string[];
}

const everything = permissions.filter((permission) => permission !== 'app');

const tokenOf = async (account: string, allowed: Permission[]): Promise<string> =>
  (await issueToken(account, { label: 'test', permissions: allowed })).token;

/** Creates the two accounts and their data on a stack. */
export const makeWorld = async ({ stack, demo }: OwnStack): Promise<World> => {
  const urls = { base: stack.baseUrl, bridge: stack.bridgeUrl };
  const ours = await settle('ours', urls, demo.app_token);
  const theirs = await settle('theirs', urls, demo.app_token);
  const lacking = await Promise.all(
    everything.map(async (one): Promise<[string, string]> => {
      const others = everything.filter((permission) => permission !== one);
      return [one, await tokenOf(ours.account, others)];
    }),
  );
  const managing = await manage(urls);
  const tokens = { ours: ours.token, theirs: theirs.token, managing: managing.token, network: demo.app_token };
  const all = [...ours.secrets, ...theirs.secrets];
  return {
    known: new Map([...(await knownOf(ours, theirs, urls)), ...managing.known]),
    tokens,
    lacking: new Map([...lacking, ['app', ours.token]]),
    secrets: { ours: theirs.secrets, theirs: ours.secrets, managing: all, network: all, nobody: all },
    named: new Map([...Object.entries(tokens), ...lacking].flatMap(([name, token]) => namesOf(name, token))),
  };
};

/** A token, plain and encoded for a path, with the names of shell variables. */
const namesOf = (name: string, token: string): [string, string][] => [
  [token, `$TOKEN_${name}`],
  [Buffer.from(token).toString('base64url'), `$ENCODED_TOKEN_${name}`],
];

/** Calls an endpoint, and throws if the response is not a success. */
const calling = (url: string, token: string) => async (method: string, path: string, body?: object | FormData) => {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: token, ...(!(body instanceof FormData) && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: body instanceof FormData ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} is ${response.status}: ${text}`);
  return { body: text === '' ? undefined : JSON.parse(text), link: response.headers.get('link') ?? '' };
};

const settle = async (name: 'ours' | 'theirs', urls: Record<Host, string>, appToken: string): Promise<Estate> => {
  const secret = (field: string): string => `${field} of ${name} ${randomUUID()}`;
  const [account, bot, user, stranger, userId] = [newAccountId(), newPhone(), newPhone(), newPhone(), randomUUID()];
  // Unlimited: a fast machine would otherwise test the limit of requests, whose 503 on the bridge is not an error.
  await createAccount({ name: secret('name'), id: account, bot_number: bot, ...UNLIMITED });
  const token = await tokenOf(account, everything);
  const base = calling(urls.base, token);
  const app = calling(urls.bridge, appToken);

  const value = secret('value');
  await updateUser(newId(), {
    phone_number: user,
    id: userId,
    panelist: true,
    properties: { first_name: { value, source: 'user' }, device_make: { value: 'Example', source: 'device' } },
  });
  const [question, option] = [secret('question'), secret('option')];
  const created = await base('POST', '/v1/research_profilers', { question, options: [option, 'no'] });
  const { profiler_id: profiler, options } = created.body;
  await base('POST', '/v1/profiler_answer', { profiler_id: profiler, option_id: options[option], phone_number: user });

  const started = await base('POST', `/v1/user_data/start/${user}`, {
    reason: secret('reason'),
    data: [{ property: 'first_name' }, { property: 'device_make' }],
  });
  const { requestId: request } = started.body;
  await app('POST', '/v1/app/events', {
    id: newId(),
    type: 'user_data.answered',
    data: { id: request, answers: { first_name: 'approved' } },
  });

  const again = { reason: secret('reason'), data: [{ property: 'device_make' }] };
  const { requestId: ended } = (await base('POST', `/v1/user_data/start/${user}`, again)).body;
  const withdrawn = { id: ended, properties: ['device_make'] };
  await app('POST', '/v1/app/events', { id: newId(), type: 'user_data.withdrawn', data: withdrawn });

  const { link: following } = await base('GET', '/v1/user_data/requests?limit=1');
  const { link: further } = await base('GET', '/v1/user_data/receipts?limit=1');

  const form = new FormData();
  form.append('file', new File([png], 'picture.png'));
  const { body: uploaded } = await base('POST', '/v1/upload_image', form);
  const avatar = new FormData();
  avatar.append('file', new File([png], 'picture.png'));
  await base('PUT', '/v1/avatar', avatar);
  const job = randomUUID();
  const text = { type: 'text', text: { body: secret('text') } };
  const { body: sent } = await base('POST', '/v1/message', { to: user, ...text });
  await base('POST', `/v1/message?job_id=${job}`, { to: stranger, ...text });
  await base('POST', `/v1/message?job_id=${randomUUID()}`, { to: stranger, ...text });
  // This stack runs no worker that counts entries.
  vi.stubEnv('COUNTER_RETENTION', '400');
  const day = new Date().toISOString().slice(0, 10);
  await recountJobs(account, day, day);
  const { link } = await base('GET', '/v1/stats/logs?limit=1');
  const { link: older } = await base('GET', '/v1/jobs?limit=1');
  const settings = { url: 'http://127.0.0.1:1/hook', secret: `whsec_${Buffer.alloc(32).toString('base64')}` };
  await updateAccount(account, { platform: { name: 'webhook', settings } });
  const failed = [exampleDelivery(account, user), exampleDelivery(account, stranger)];
  await putAll(failed);
  const { link: more } = await base('GET', '/v1/deliveries?limit=1');
  const claims = await claimsOf(account, base);
  return {
    account,
    token,
    bot,
    user,
    profiler,
    options: [options.no, options[option]],
    request,
    ended,
    media: uploaded.url,
    cursor: /cursor=([\w-]+)/.exec(link)?.[1] ?? '',
    message: sent.id,
    job,
    delivery: failed.map(attemptIdOf).at(-1) ?? '',
    deliveries: /cursor=([\w-]+)/.exec(more)?.[1] ?? '',
    requests: /cursor=([\w-]+)/.exec(following)?.[1] ?? '',
    receipts: /cursor=([\w-]+)/.exec(further)?.[1] ?? '',
    jobs: /cursor=([\w-]+)/.exec(older)?.[1] ?? '',
    claims,
    userId,
    secrets: [value, question, option, options[option], text.text.body, stranger, job],
  };
};

/** An account with webhooks and tokens of its own. A request with the method DELETE deletes what another one changes. */
const manage = async (urls: Record<Host, string>) => {
  const account = newAccountId();
  await createAccount({ name: 'Managing', id: account, ...UNLIMITED });
  const token = await tokenOf(account, everything);
  const base = calling(urls.base, token);
  const newWebhook = async (url: string): Promise<string> => (await base('POST', '/v1/webhooks', { url })).body.id;
  const ids = [1, 2, 3, 4].map((number) => newWebhook(`https://example.com/${number}`));
  const [first = '', second = '', tested = '', doomed = ''] = await Promise.all(ids);
  const newToken = async (): Promise<string> =>
    (await base('POST', '/v1/tokens', { label: 'test', permissions: ['stats'] })).body.id;
  const [rotated, revoked] = [await newToken(), await newToken()];
  const known: [string, string[]][] = [
    ['rotateToken.token_id', [rotated, newId()]],
    ['revokeToken.token_id', [revoked, newId()]],
    ['webhook_id', [tested, tested, newId()]],
    ['updateWebhook.webhook_id', [first, second, newId()]],
    ['deleteWebhook.webhook_id', [doomed, newId()]],
    ['createWebhook.url', ['https://example.com/5', 'https://example.com/6']],
    ['updateWebhook.url', ['https://example.com/7', 'https://example.com/8']],
  ];
  return { token, known };
};

/** Claims to settle: each can be settled once. */
const CLAIMS = 20;

/** Directs the events of an account to listeners, and claims some, for longer than the test takes. */
const claimsOf = async (account: string, base: ReturnType<typeof calling>): Promise<string[]> => {
  const users = Array.from({ length: CLAIMS }, newPhone);
  for (const user of users) await addOffer(account, user);
  const claims: string[] = [];
  while (claims.length < CLAIMS) {
    const { body } = await base('POST', '/v1/deliveries/claim?limit=10');
    claims.push(...body.map(({ claim }: { claim: string }) => claim));
  }
  for (const phone of users) {
    await update({
      Key: headKey(conversationName({ direction: 'platform', account, phone })),
      UpdateExpression: 'SET claimed_until = :until, gsi3sk = :until',
      ExpressionAttributeValues: { ':until': sortableTime(Date.now() + 86_400_000) },
    });
  }
  return claims;
};

/** Profilers to delete, codes to use, and panelists to answer. */
const DOOMED = 40;
const PANELISTS = 40;

const knownOf = async (ours: Estate, theirs: Estate, urls: Record<Host, string>) => {
  const base = calling(urls.base, ours.token);
  const doomed = await Promise.all(
    Array.from({ length: DOOMED }, async (): Promise<string> => {
      const { body } = await base('POST', '/v1/research_profilers', { question: 'Well?', options: ['a', 'b'] });
      return body.profiler_id;
    }),
  );
  const codes = await Promise.all(
    Array.from({ length: DOOMED }, async (): Promise<string> => {
      const { account } = ours;
      return (await issuePortalCode({ account, label: 'test', permissions: ['stats'] })).code;
    }),
  );
  const panelists = await Promise.all(Array.from({ length: PANELISTS }, newPanelist));
  const idOf = (url: string): string => url.replace(/.*\//, '');
  const day = (ago: number): string => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
  const [unregistered, registered, extra] = [newPhone(), newPhone(), newPhone()];
  await updateUser(newId(), { phone_number: registered, panelist: true });
  const phones = [ours.user, ours.user, theirs.user, unregistered];
  const media = [idOf(ours.media), idOf(theirs.media), newId()];
  const addresses = [ours.media, ours.media, theirs.media, 'https://example.com/picture.png'];
  return new Map<string, string[]>([
    // A request with the method DELETE deletes these profilers.
    ['readProfiler.profiler_id', [...doomed, theirs.profiler, newId()]],
    ['deleteProfiler.profiler_id', [...doomed, theirs.profiler, newId()]],
    ['createSession.code', codes],
    ['profiler_id', [ours.profiler, ours.profiler, theirs.profiler]],
    ['listAnswers.profiler_id', [ours.profiler, theirs.profiler, newId()]],
    ['readResults.profiler_id', [ours.profiler, theirs.profiler, newId()]],
    ['option_id', [ours.options[0], ours.options[1], theirs.options[0]]],
    ['option_ids', [ours.options[0], ours.options[1], theirs.options[0]]],
    ['phone', phones],
    ['to', phones],
    ['to_no_plus', phones],
    // A panelist's answer is final, so new answers need new panelists.
    ['answerProfiler.phone', [...panelists, ours.user, unregistered]],
    ['answerProfilers.phone', [...panelists, ours.user, unregistered]],
    ['fetchUserData.request_id_or_phone_number', [ours.request, theirs.request, newId()]],
    ['listUserDataRequests.cursor', [ours.requests, theirs.requests]],
    ['listReceipts.cursor', [ours.receipts, theirs.receipts]],
    ['listRecentJobs.cursor', [ours.jobs, theirs.jobs]],
    ['request_id', [ours.ended, ours.ended, ours.request, theirs.ended, newId()]],
    // No long poll waits: the requests are completed or unknown.
    ['long_poll', ['0', '1']],
    ['readMessage.message_id', [ours.message, theirs.message, newId()]],
    ['readMedia.media_id', media],
    ['readMediaHead.media_id', media],
    ['url', addresses],
    ['link', addresses],
    ['bot_phone_number', [ours.bot, ours.bot, theirs.bot]],
    ['job_id', [randomUUID(), newId()]],
    ['cancelJob.job_id', [ours.job, theirs.job, newId()]],
    ['readJob.job_id', [ours.job, theirs.job, newId()]],
    ['exportJobLog.job_id', [ours.job, theirs.job, newId()]],
    ['claim', [...ours.claims, theirs.claims[0] ?? '', newId()]],
    ['delivery_id', [ours.delivery, ours.delivery, theirs.delivery, newId()]],
    ['listDeliveries.cursor', [ours.deliveries, theirs.deliveries]],
    ['since', [String(Math.floor(Date.now() / 1_000) - 3_600), '2026-01-01T00:00:00Z']],
    ['readUser.user', [ours.user, ours.userId, theirs.userId, unregistered, newId()]],
    ['contact', [...phones, `${ours.user}@users.example.com`]],
    ['start', ['0', String(Math.floor(Date.now() / 1_000) - 3_600)]],
    ['end', ['253402300799', String(Math.floor(Date.now() / 1_000) + 3_600)]],
    ['listLogs.cursor', [ours.cursor, theirs.cursor]],
    ['start_date', [day(0), day(1), day(30)]],
    ['end_date', [day(0), day(0), day(2)]],
    ['listJobs.start', [day(0), day(1), day(30)]],
    ['listJobs.end', [day(0), day(0), day(2)]],
    ['time_zone', ['Africa/Johannesburg', 'America/New_York', 'UTC', 'recipient']],
    // The numbers here belong to no country: with `recipient` as a default, no message would be accepted any more.
    ['updateAccount.time_zone', ['Africa/Johannesburg', 'UTC']],
    ['Idempotency-Key', ['a key', 'another key']],
    // The app network may change users, so it gets separate users, and those of the accounts stay.
    ['receiveAppEvents.phone', [registered, extra, ours.bot, theirs.bot]],
    ['receiveAppEvents.id', [ours.message, theirs.message, newId()]],
  ]);
};
