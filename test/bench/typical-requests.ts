/** A typical request for each endpoint, with items under 1 KB. */
import { randomUUID } from 'node:crypto';
import type { Demo } from '../../infra/local/demo.ts';
import { exampleDelivery } from '../../infra/local/documentation/example-delivery.ts';
import { createAccount, updateAccount } from '../../infra/operator/queries/accounts-admin.ts';
import { issuePortalCode } from '../../infra/operator/queries/portal-codes.ts';
import { issueToken } from '../../infra/operator/queries/tokens-admin.ts';
import type { EndpointName } from '../../shared/api/index.ts';
import { attemptIdOf } from '../../shared/delivery/entities.ts';
import { putAll } from '../../shared/table/client.ts';
import { addOffer } from '../support/example-offer.ts';
import { type FrontDoor, newPhone, type Sent } from './front-door.ts';

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

/** The account whose events wait for listeners. */
const LISTENER = 'listener';
const INTEGRATOR = 'integrator';

/** The body of a text message to a number. */
export const textTo = (to: string) => ({ to, type: 'text', text: { body: 'Your parcel is on its way.' } });

/** A request of Turn, with the token in its path. */
export const ofTurn = ({ token }: Demo): Sent => ({
  path: { encoded_token: Buffer.from(token).toString('base64url') },
  body: { content: 'Hello', to: `+${newPhone()}`, context: null },
});

const upload = (): Sent => {
  const body = new FormData();
  body.append('file', new File([Buffer.from(PNG, 'base64')], 'a.png'));
  return { body };
};

/** Creates the required items. Returns a factory of requests for each endpoint. */
export const typicalRequests = async (
  door: FrontDoor,
  demo: Demo,
): Promise<Record<EndpointName, () => Promise<Sent> | Sent>> => {
  const profiler = await door.newProfiler();
  // Without answers, because reading them is the variable part.
  const audience = await door.newProfiler();
  const user = await door.newUser();
  const request = { reason: 'To greet', data: [{ property: 'first_name' }] };
  const day = new Date().toISOString().slice(0, 10);
  const { url } = (await door.send('uploadImage', upload())) as { url: string };
  const started = { path: { phone_number: user }, body: request };
  const { requestId } = (await door.send('startUserDataRequest', started)) as { requestId: string };
  for (let count = 0; count < 9; count += 1) await door.send('sendMessage', { body: textTo(newPhone()) });
  const asked = { path: { phone_number: user }, body: { reason: 'To help', data: [{ property: 'device_platform' }] } };
  /** A request whose consent the user has withdrawn. */
  const newWithdrawn = async (): Promise<string> => {
    const { requestId: id } = (await door.send('startUserDataRequest', asked)) as { requestId: string };
    const data = { id, properties: ['device_platform'] };
    await door.send('receiveAppEvents', { body: { id: randomUUID(), type: 'user_data.withdrawn', data } });
    return id;
  };
  /** A webhook that accepts no connections: the account needs one to receive an event again. */
  const secret = `whsec_${Buffer.alloc(24).toString('base64')}`;
  const unreachable = { name: 'webhook' as const, settings: { url: 'http://127.0.0.1:9/', secret } };
  /** The id of a delivery that the webhook rejected. */
  const newFailed = async (account = 'demo'): Promise<string> => {
    const failed = exampleDelivery(account, newPhone());
    await putAll([failed]);
    await updateAccount(account, { platform: unreachable });
    return attemptIdOf(failed);
  };
  const newToken = async (): Promise<string> =>
    ((await door.send('createToken', { body: { label: 'benchmark', permissions: ['stats'] } })) as { id: string }).id;
  const newCode = async (): Promise<string> =>
    (await issuePortalCode({ account: 'demo', label: 'benchmark', permissions: ['stats'] })).code;
  // A change of webhooks wakes the conversations that wait for one: this account has none, however many the other has.
  await createAccount({ id: INTEGRATOR, name: 'Integrator' });
  const { token: integrating } = await issueToken(INTEGRATOR, { label: 'benchmark', permissions: ['admin'] });
  const webhookDraft = async (): Promise<Sent> => {
    await updateAccount(INTEGRATOR, { platform: null });
    return { body: { url: `https://example.com/${randomUUID()}` }, token: integrating };
  };
  /** A request about the only webhook of the account. */
  const ofWebhook = async (): Promise<Sent> => {
    const made = (await door.send('createWebhook', await webhookDraft())) as { id: string };
    return { path: { webhook_id: made.id }, token: integrating };
  };
  await createAccount({ id: LISTENER, name: 'Listener' });
  const { token: listening } = await issueToken(LISTENER, { label: 'benchmark', permissions: ['listen'] });
  await door.send('setAvatar', upload());
  const message = (await door.send('sendMessage', { body: textTo(newPhone()) })) as { id: string };

  const job = randomUUID();
  await door.send('sendMessage', { query: { job_id: job }, body: textTo(newPhone()) });

  return {
    readApiDescription: () => ({}),
    readDocumentation: () => ({}),
    readPortal: () => ({}),
    handleMcpMessage: () => ({ body: { jsonrpc: '2.0', id: 1, method: 'tools/list' } }),
    createProfiler: () => ({ body: { question: 'Well?', options: ['yes', 'no'] } }),
    listProfilers: () => ({}),
    readProfiler: () => ({ path: { id: profiler.id } }),
    deleteProfiler: async () => ({ path: { id: (await door.newProfiler()).id } }),
    answerProfiler: async () => ({
      body: { profiler_id: profiler.id, option_id: profiler.option, phone_number: await door.newUser() },
    }),
    answerProfilers: async () => ({
      body: [{ profiler_id: profiler.id, option_id: profiler.option, phone_number: await door.newUser() }],
    }),
    countAudience: () => ({ body: { all: [{ profiler_id: audience.id, option_ids: [audience.option] }] } }),
    listAnswers: () => ({ path: { id: profiler.id }, query: { limit: '10' } }),
    readResults: () => ({ path: { id: profiler.id } }),
    exportProfiler: () => ({ path: { id: profiler.id, file: 'answers.csv' } }),
    sendMessage: () => ({ body: textTo(newPhone()) }),
    sendMessages: () => ({ body: [textTo(newPhone()), textTo(newPhone())] }),
    readMessage: () => ({ path: { id: message.id } }),
    listRecentJobs: () => ({ query: { limit: '10' } }),
    readJob: () => ({ path: { job_id: job } }),
    exportJobLog: () => ({ path: { job_id: job, file: 'log.csv' } }),
    cancelJob: async () => {
      const job_id = randomUUID();
      await door.send('sendMessage', { query: { job_id }, body: textTo(newPhone()) });
      return { path: { job_id } };
    },
    uploadImage: upload,
    uploadFile: upload,
    readMedia: () => ({ path: { id: url.split('/').at(-1) ?? '' } }),
    receiveRapidproMessage: () => ({
      body: new URLSearchParams({ id: randomUUID(), text: 'Hello', to_no_plus: newPhone() }),
    }),
    receiveTurnMessage: () => ofTurn(demo),
    receiveTestMessage: () => ({
      path: { bot_phone_number: demo.bot_phone_number },
      body: { message: { type: 'text', from: newPhone(), text: { body: 'Hello' } } },
    }),
    receiveAppEvents: () => ({
      body: {
        id: randomUUID(),
        type: 'message.received',
        data: { from: newPhone(), to: demo.bot_phone_number, type: 'text', text: { body: 'Hello' } },
      },
    }),
    startUserDataRequest: async () => ({ path: { phone_number: await door.newUser() }, body: request }),
    fetchUserData: () => ({ path: { id: requestId } }),
    acknowledgeDeletion: async () => ({ path: { request_id: await newWithdrawn() } }),
    listUserDataRequests: () => ({ query: { limit: '10' } }),
    listReceipts: () => ({ query: { limit: '10' } }),
    retrieveUserData: () => ({ path: { id: user }, body: { data: [{ property: 'device_platform' }] } }),
    matchContacts: () => ({ body: { contacts: [user] } }),
    readUser: () => ({ path: { user } }),
    readTokenInfo: () => ({}),
    readConfiguration: () => ({}),
    updateAccount: () => ({ body: { name: `Demo ${randomUUID()}` } }),
    setAvatar: upload,
    readAvatar: () => ({}),
    listDeliveries: () => ({ query: { limit: '10' } }),
    readDelivery: async () => ({ path: { delivery_id: await newFailed() } }),
    replayDelivery: async () => ({ path: { delivery_id: await newFailed() } }),
    recoverDeliveries: async () => {
      // A new account, because a recovery reads the attempts of its account.
      const account = randomUUID();
      await createAccount({ id: account, name: 'Recoverer' });
      const { token } = await issueToken(account, { label: 'benchmark', permissions: ['bridge'] });
      await newFailed(account);
      return { body: { since: Math.floor(Date.now() / 1_000) - 60 }, token };
    },
    claimDeliveries: async () => {
      await addOffer(LISTENER, newPhone());
      return { query: { limit: '1' }, token: listening };
    },
    settleDelivery: async () => {
      await addOffer(LISTENER, newPhone());
      const [event] = (await door.send('claimDeliveries', { query: { limit: '1' }, token: listening })) as {
        claim: string;
      }[];
      return { body: { claim: event?.claim, status_code: 200 }, token: listening };
    },
    createToken: () => ({ body: { label: 'benchmark', permissions: ['stats'] } }),
    listTokens: () => ({}),
    rotateToken: async () => ({ path: { token_id: await newToken() }, body: {} }),
    revokeToken: async () => ({ path: { token_id: await newToken() } }),
    listHistory: () => ({ query: { limit: '10' } }),
    createSession: async () => ({ body: { code: await newCode() } }),
    endSession: async () => {
      const made = await door.send('createSession', { body: { code: await newCode() } });
      return { token: (made as { token: string }).token };
    },
    createWebhook: webhookDraft,
    listWebhooks: () => ({ token: integrating }),
    updateWebhook: async () => ({ ...(await ofWebhook()), body: {} }),
    rotateWebhookSecret: ofWebhook,
    testWebhook: ofWebhook,
    deleteWebhook: ofWebhook,
    listLogs: () => ({ query: { limit: '10' } }),
    listJobs: () => ({ query: { start_date: day, end_date: day } }),
  };
};
