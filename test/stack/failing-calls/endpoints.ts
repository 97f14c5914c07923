/** The endpoints and the authorizer, each with a request that changes or reads something. */
import { createHmac, randomUUID } from 'node:crypto';
import { handler as readAvatar } from '../../../functions/account/read-avatar.ts';
import { handler as readConfiguration } from '../../../functions/account/read-configuration.ts';
import { handler as readTokenInfo } from '../../../functions/account/read-token-info.ts';
import { handler as setAvatar } from '../../../functions/account/set-avatar.ts';
import { handler as updateAccount } from '../../../functions/account/update-account.ts';
import { handler as receiveAppEvents } from '../../../functions/app/receive-app-events.ts';
import { handler as authorizer } from '../../../functions/authorizer.ts';
import { handler as receiveRapidproMessage } from '../../../functions/bridge/receive-rapidpro-message.ts';
import { handler as receiveTestMessage } from '../../../functions/bridge/receive-test-message.ts';
import { handler as receiveTurnMessage } from '../../../functions/bridge/receive-turn-message.ts';
import { handler as claimDeliveries } from '../../../functions/deliveries/claim-deliveries.ts';
import { handler as listDeliveries } from '../../../functions/deliveries/list-deliveries.ts';
import { handler as readDelivery } from '../../../functions/deliveries/read-delivery.ts';
import { handler as recoverDeliveries } from '../../../functions/deliveries/recover-deliveries.ts';
import { handler as replayDelivery } from '../../../functions/deliveries/replay-delivery.ts';
import { handler as settleDelivery } from '../../../functions/deliveries/settle-delivery.ts';
import { handler as cancelJob } from '../../../functions/jobs/cancel-job.ts';
import { handler as readJob } from '../../../functions/jobs/read-job.ts';
import { handler as readMedia } from '../../../functions/media/read-media.ts';
import { handler as uploadFile } from '../../../functions/media/upload-file.ts';
import { handler as uploadImage } from '../../../functions/media/upload-image.ts';
import { handler as readMessage } from '../../../functions/messages/read-message.ts';
import { handler as sendMessage } from '../../../functions/messages/send-message.ts';
import { handler as sendMessages } from '../../../functions/messages/send-messages.ts';
import { handler as answerProfiler } from '../../../functions/profilers/answer-profiler.ts';
import { handler as answerProfilers } from '../../../functions/profilers/answer-profilers.ts';
import { handler as countAudience } from '../../../functions/profilers/count-audience.ts';
import { handler as createProfiler } from '../../../functions/profilers/create-profiler.ts';
import { handler as deleteProfiler } from '../../../functions/profilers/delete-profiler.ts';
import { handler as listAnswers } from '../../../functions/profilers/list-answers.ts';
import { handler as listProfilers } from '../../../functions/profilers/list-profilers.ts';
import { handler as readProfiler } from '../../../functions/profilers/read-profiler.ts';
import { handler as readResults } from '../../../functions/profilers/read-results.ts';
import { handler as listJobs } from '../../../functions/stats/list-jobs.ts';
import { handler as listLogs } from '../../../functions/stats/list-logs.ts';
import { handler as acknowledgeDeletion } from '../../../functions/user-data/acknowledge-deletion.ts';
import { handler as fetchUserData } from '../../../functions/user-data/fetch-user-data.ts';
import { handler as retrieveUserData } from '../../../functions/user-data/retrieve-user-data.ts';
import { handler as startUserDataRequest } from '../../../functions/user-data/start-user-data-request.ts';
import { handler as matchContacts } from '../../../functions/users/match-contacts.ts';
import { handler as readUser } from '../../../functions/users/read-user.ts';
import { exampleDelivery } from '../../../infra/local/documentation/example-delivery.ts';
import { setAvatar as storeAvatar } from '../../../shared/accounts/avatar.ts';
import { accountTokenKey } from '../../../shared/accounts/entities.ts';
import { sortableTime } from '../../../shared/core/clock.ts';
import { attemptIdOf } from '../../../shared/delivery/entities.ts';
import { listenerOf } from '../../../shared/delivery/listeners/claim.ts';
import { upload } from '../../../shared/media/uploads.ts';
import { changeOptOut } from '../../../shared/messaging/opt-outs/changes.ts';
import * as messages from '../../../shared/messaging/send.ts';
import { conversationName, headKey } from '../../../shared/outbox/entities.ts';
import { recordAnswer } from '../../../shared/profilers/answers.ts';
import * as profilers from '../../../shared/profilers/profilers.ts';
import { countAnswers } from '../../../shared/profilers/results.ts';
import { countEntries } from '../../../shared/stats/job-counters.ts';
import { putAll, update } from '../../../shared/table/client.ts';
import { withdrawConsent } from '../../../shared/user-data/consent-ends.ts';
import { answerRequest } from '../../../shared/user-data/request-answers.ts';
import * as userData from '../../../shared/user-data/requests.ts';
import { addOffer } from '../../support/example-offer.ts';
import { fileOf, jpeg, pdf, png } from '../support/files.ts';
import { newCaller, newPanelist, newPhone } from '../support/world.ts';
import { calling, type Scenario } from './scenario.ts';
import { answersInTable, entriesOfLog, minutesAgo, newBusiness, newUser, textTo } from './world.ts';

const key = { 'idempotency-key': 'the-first' };

/** A business with a delivery that its webhook has rejected. */
const newFailedDelivery = async (): Promise<{ account: string; id: string }> => {
  const { account, phone } = await newBusiness();
  const failed = exampleDelivery(account, phone);
  await putAll([failed]);
  return { account, id: attemptIdOf(failed) };
};

const JOB = 'a9c8bd00-0c31-4ea2-9f4a-0a3d6a2f7f11';

const question = { question: 'Well?', options: ['yes', 'no'] };

/** Yesterday to tomorrow, so that a run across midnight is included. */
const EVER = { start_date: dayFromNow(-1), end_date: dayFromNow(1) };

function dayFromNow(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
}

const uploading = async (file: File): Promise<{ headers: Record<string, string>; body: Buffer }> => {
  const form = new FormData();
  form.set('file', file);
  const encoded = new Response(form);
  const type = encoded.headers.get('content-type') ?? '';
  return { headers: { 'content-type': type }, body: Buffer.from(await encoded.arrayBuffer()) };
};

const reporting = (events: (world: { bot: string; account: string; phone: string }) => Promise<object>) => ({
  prepare: async () => {
    const business = await newBusiness();
    const body = await events({ ...business, phone: await newUser() });
    return calling(receiveAppEvents, { account: 'app-network', body });
  },
});

const received = (from: string, to: string, id = 'event-1') => ({
  id,
  type: 'message.received',
  data: { from, ...textTo(to) },
});

const asked = [
  { property: 'first_name' as const, required: false },
  { property: 'device_make' as const, required: false },
];

/** A request whose user has approved it. */
const newReleased = async (account: string, phone: string, valid_days?: number): Promise<string> => {
  const { id } = await userData.startRequest(
    account,
    phone,
    { reason: 'Why not?', data: asked, valid_days },
    undefined,
  );
  await answerRequest(id, { first_name: 'approved' });
  return id;
};

/** A new profiler with an answer. */
const newAnswer = async () => {
  const { account } = await newBusiness();
  const { id, options } = await profilers.createProfiler(account, question);
  const option = options[0]?.id ?? '';
  await recordAnswer(account, { profiler_id: id, option_id: option, phone_number: await newPanelist() });
  return { account, id, option };
};

/** Scenarios by endpoint. Text after a colon distinguishes scenarios of one endpoint. */
export const endpoints = {
  createProfiler: {
    prepare: async () => {
      const { account } = await newBusiness();
      return calling(createProfiler, { account, headers: key, body: question });
    },
    // The idempotency key's item, which no caller can read, and the profiler.
    parts: 2,
  },
  listProfilers: {
    prepare: async () => {
      const { account } = await newBusiness();
      await profilers.createProfiler(account, question);
      return calling(listProfilers, { account });
    },
    readsOnly: true,
  },
  readProfiler: {
    prepare: async () => {
      const { account } = await newBusiness();
      const { id } = await profilers.createProfiler(account, question);
      return calling(readProfiler, { account, path: { id } });
    },
    readsOnly: true,
  },
  deleteProfiler: {
    prepare: async () => {
      const { account } = await newBusiness();
      const { id } = await profilers.createProfiler(account, question);
      return calling(deleteProfiler, { account, path: { id } });
    },
    repeatStatus: 404,
  },
  answerProfiler: {
    prepare: async () => {
      const { account } = await newBusiness();
      const { id, options } = await profilers.createProfiler(account, question);
      const body = { profiler_id: id, option_id: options[0]?.id, phone_number: await newPanelist() };
      return calling(answerProfiler, { account, body });
    },
  },
  answerProfilers: {
    prepare: async () => {
      const { account } = await newBusiness();
      const { id, options } = await profilers.createProfiler(account, question);
      const valid = { profiler_id: id, option_id: options[0]?.id, phone_number: await newPanelist() };
      return calling(answerProfilers, { account, body: [valid, { ...valid, phone_number: await newPanelist() }, 7] });
    },
    parts: 2,
    continues: true,
  },
  countAudience: {
    prepare: async () => {
      const { account, id, option } = await newAnswer();
      return calling(countAudience, { account, body: { all: [{ profiler_id: id, option_ids: [option] }] } });
    },
    chargesOnly: true,
  },
  listAnswers: {
    prepare: async () => {
      const { account, id } = await newAnswer();
      return calling(listAnswers, { account, path: { id } });
    },
    readsOnly: true,
  },
  readResults: {
    prepare: async () => {
      const { account, id } = await newAnswer();
      await countAnswers(await answersInTable());
      return calling(readResults, { account, path: { id } });
    },
    readsOnly: true,
  },
  'sendMessage: a text': {
    prepare: async () => {
      const { account, phone } = await newBusiness();
      return calling(sendMessage, { account, headers: key, body: textTo(phone) });
    },
  },
  'sendMessage: an image after a pending message': {
    prepare: async () => {
      const { account, phone } = await newBusiness();
      await messages.sendMessage(account, textTo(phone), {});
      const { url } = await upload(account, 'image', fileOf(png));
      return calling(sendMessage, { account, headers: key, body: { to: phone, type: 'image', image: { url } } });
    },
  },
  'sendMessage: a text with a job, which is valid for a limited time': {
    prepare: async () => {
      const { account, phone } = await newBusiness();
      const body = { ...textTo(phone), valid_for: 60 };
      return calling(sendMessage, { account, headers: key, query: { job_id: JOB }, body });
    },
    // The job, and the message.
    parts: 2,
  },
  readJob: {
    prepare: async () => {
      const { account, phone } = await newBusiness();
      await messages.sendMessage(account, textTo(phone), { job_id: JOB });
      await countEntries(await entriesOfLog());
      return calling(readJob, { account, path: { job_id: JOB } });
    },
    readsOnly: true,
  },
  cancelJob: {
    prepare: async () => {
      const { account, phone } = await newBusiness();
      await messages.sendMessage(account, textTo(phone), { job_id: JOB });
      return calling(cancelJob, { account, path: { job_id: JOB } });
    },
  },
  'sendMessage: a text to many': {
    prepare: async () => {
      const { account, phone } = await newBusiness();
      return calling(sendMessage, { account, headers: key, body: { ...textTo(phone), to: [phone, newPhone()] } });
    },
  },
  'sendMessage: a text to many, with a low priority': {
    prepare: async () => {
      const { account, phone } = await newBusiness();
      const body = { ...textTo(phone), to: [phone, newPhone()], priority: 'low' };
      return calling(sendMessage, { account, headers: key, body });
    },
  },
  sendMessages: {
    prepare: async () => {
      const { account, phone } = await newBusiness();
      const { url } = await upload(account, 'image', fileOf(png));
      const image = { to: newPhone(), type: 'image', image: { url } };
      return calling(sendMessages, { account, headers: key, body: [textTo(phone), image] });
    },
  },
  'sendMessages: with a low priority': {
    prepare: async () => {
      const { account, phone } = await newBusiness();
      const body = [phone, newPhone()].map((to) => ({ ...textTo(to), priority: 'low' }));
      return calling(sendMessages, { account, headers: key, body });
    },
  },
  readMessage: {
    prepare: async () => {
      const { account, phone } = await newBusiness();
      return calling(readMessage, { account, path: { id: await messages.sendMessage(account, textTo(phone), {}) } });
    },
    readsOnly: true,
  },
  uploadImage: {
    prepare: async () => {
      const { account } = await newBusiness();
      return calling(uploadImage, { account, ...(await uploading(fileOf(png))) });
    },
    repeat: 'new',
  },
  uploadFile: {
    prepare: async () => {
      const { account } = await newBusiness();
      return calling(uploadFile, { account, ...(await uploading(fileOf(pdf))) });
    },
    repeat: 'new',
  },
  readMedia: {
    prepare: async () => {
      const { account } = await newBusiness();
      const { url } = await upload(account, 'image', fileOf(png));
      return calling(readMedia, { account, route: 'GET /media/{id}', path: { id: url.split('/').at(-1) ?? '' } });
    },
    readsOnly: true,
  },
  receiveRapidproMessage: {
    prepare: async () => {
      const { account, phone } = await newBusiness();
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      return calling(receiveRapidproMessage, {
        account,
        route: 'POST /v1/webhook/rapidpro/',
        headers,
        body: `id=21&text=Hello&to=${phone}`,
      });
    },
    // Of a repeat, RapidPro shows the message as on its way, so statuses from before the repeat do not count.
    notesRepeats: true,
  },
  receiveTurnMessage: {
    prepare: async () => {
      const secret = 'the hmac_secret of a channel';
      const settings = { url: 'https://turn.example.com', channel: 'channel', token: 'token' };
      const { account, phone } = await newBusiness({ name: 'turn', settings, hook: { hmac_secret: secret } });
      const body = JSON.stringify({ to: phone, content: 'Hello' });
      const signature = createHmac('sha256', secret).update(body).digest('base64');
      const headers = { 'content-type': 'application/json', 'x-turn-hook-signature': signature };
      return calling(receiveTurnMessage, { account, path: { encoded_token: 'token' }, headers, body });
    },
    // Turn's requests have no message id.
    repeat: 'new',
  },
  receiveTestMessage: {
    prepare: async () => {
      const { account, bot, phone } = await newBusiness();
      const body = { message: { type: 'text', from: phone, text: { body: 'Hello' } } };
      return calling(receiveTestMessage, { account, path: { bot_phone_number: bot }, body });
    },
    repeat: 'new',
  },
  'receiveAppEvents: a message from a user': reporting(async ({ bot, phone }) => received(phone, bot)),
  'receiveAppEvents: a state of a message': reporting(async ({ account, phone }) => {
    const id = await messages.sendMessage(account, textTo(phone), {});
    return { id: 'event-1', type: 'message.state', data: { id, state: 'read' } };
  }),
  'receiveAppEvents: a profile update': reporting(async ({ phone }) => {
    const properties = { first_name: { value: 'Ann', source: 'self' }, last_name: { value: null } };
    return { id: 'event-1', type: 'user.updated', data: { phone_number: phone, panelist: true, properties } };
  }),
  'receiveAppEvents: an answer that completes a request': {
    ...reporting(async ({ account, phone }) => {
      const { id } = await userData.startRequest(account, phone, { reason: 'Why not?', data: asked }, undefined);
      return { id: 'event-1', type: 'user_data.answered', data: { id, answers: { first_name: 'approved' } } };
    }),
    // The answer, and the record that its event was processed.
    parts: 2,
  },
  'receiveAppEvents: a withdrawal': {
    ...reporting(async ({ account, phone }) => {
      const id = await newReleased(account, phone);
      return { id: 'event-1', type: 'user_data.withdrawn', data: { id, properties: ['first_name', 'device_make'] } };
    }),
    // The withdrawal, and the record that its event was processed.
    parts: 2,
  },
  'receiveAppEvents: states of several messages': reporting(async ({ account, phone }) => {
    const ids = [
      await messages.sendMessage(account, textTo(phone), {}),
      await messages.sendMessage(account, textTo(phone), {}),
    ];
    return ids.map((id) => ({ id: `event-${id}`, type: 'message.state', data: { id, state: 'read' } }));
  }),
  'receiveAppEvents: a profile update with a timestamp': reporting(async ({ phone }) => {
    const properties = { first_name: { value: 'Ann', source: 'self' } };
    const timestamp = new Date(Date.now() + 1_000).toISOString();
    return { id: 'event-1', type: 'user.updated', timestamp, data: { phone_number: phone, properties } };
  }),
  'receiveAppEvents: a registration with a timestamp': reporting(async () => ({
    id: 'event-1',
    type: 'user.updated',
    timestamp: '2026-11-20T09:58:10Z',
    data: { phone_number: newPhone(), panelist: true },
  })),
  'receiveAppEvents: an id of a user': reporting(async ({ phone }) => ({
    id: 'event-1',
    type: 'user.updated',
    data: { phone_number: phone, id: randomUUID() },
  })),
  'receiveAppEvents: an id that replaces the one of its user, who has another number now': {
    prepare: async () => {
      const id = randomUUID();
      await newUser(id);
      const phone = await newUser(randomUUID());
      const body = { id: 'event-1', type: 'user.updated', data: { phone_number: phone, id } };
      return calling(receiveAppEvents, { account: 'app-network', body });
    },
    // The removal of the previous number, and the change.
    parts: 2,
  },
  'receiveAppEvents: a removal of a user with an id': {
    prepare: async () => {
      const phone = await newUser(randomUUID());
      const body = { id: 'event-1', type: 'user.removed', data: { phone_number: phone } };
      return calling(receiveAppEvents, { account: 'app-network', body });
    },
  },
  'receiveAppEvents: a removal': reporting(async ({ phone }) => ({
    id: 'event-1',
    type: 'user.removed',
    data: { phone_number: phone },
  })),
  'receiveAppEvents: a removal with a timestamp': reporting(async ({ phone }) => ({
    id: 'event-1',
    type: 'user.removed',
    timestamp: new Date(Date.now() + 1_000).toISOString(),
    data: { phone_number: phone },
  })),
  'receiveAppEvents: a stop': reporting(async ({ bot, phone }) => ({
    id: 'event-1',
    type: 'user.stopped',
    data: { from: phone, to: bot },
  })),
  'receiveAppEvents: a start with a timestamp': reporting(async ({ account, bot, phone }) => {
    await changeOptOut({ event: 'event-0', account, phone, state: 'stopped' });
    const timestamp = new Date(Date.now() + 1_000).toISOString();
    return { id: 'event-1', type: 'user.started', timestamp, data: { from: phone, to: bot } };
  }),
  'receiveAppEvents: two messages from a user': {
    ...reporting(async ({ bot, phone }) => [received(phone, bot, 'event-1'), received(phone, bot, 'event-2')]),
    parts: 2,
  },
  'startUserDataRequest: properties that need approval': {
    prepare: async () => {
      const { account } = await newBusiness();
      const body = { reason: 'Why not?', data: asked };
      return calling(startUserDataRequest, {
        account,
        path: { phone_number: await newUser() },
        headers: key,
        body,
      });
    },
  },
  'startUserDataRequest: properties that need no approval': {
    prepare: async () => {
      const { account } = await newBusiness();
      const body = { reason: 'Why not?', data: asked.slice(1) };
      return calling(startUserDataRequest, {
        account,
        path: { phone_number: await newUser() },
        headers: key,
        body,
      });
    },
  },
  fetchUserData: {
    prepare: async () => {
      const { account } = await newBusiness();
      const data = asked.slice(1);
      const { id } = await userData.startRequest(account, await newUser(), { reason: 'Why not?', data }, undefined);
      return calling(fetchUserData, { account, path: { id } });
    },
    readsOnly: true,
  },
  'acknowledgeDeletion: after a withdrawal': {
    prepare: async () => {
      const { account } = await newBusiness();
      const request_id = await newReleased(account, await newUser());
      await withdrawConsent(request_id, ['first_name']);
      return calling(acknowledgeDeletion, { account, path: { request_id } });
    },
  },
  'acknowledgeDeletion: of a consent that has just expired': {
    prepare: async () => {
      const { account } = await newBusiness();
      const request_id = await minutesAgo(1_441, async () => newReleased(account, await newUser(), 1));
      return calling(acknowledgeDeletion, { account, path: { request_id } });
    },
    // The end of the consent, and the acknowledgement.
    parts: 2,
  },
  retrieveUserData: {
    prepare: async () => {
      const { account } = await newBusiness();
      const body = { data: [{ property: 'device_make' }] };
      return calling(retrieveUserData, { account, path: { id: await newUser() }, body });
    },
    // Each release creates a consent receipt.
    repeat: 'new',
  },
  matchContacts: {
    prepare: async () => {
      const { account } = await newBusiness();
      return calling(matchContacts, { account, body: { contacts: [await newUser(), newPhone()] } });
    },
    chargesOnly: true,
  },
  readUser: {
    prepare: async () => {
      const { account } = await newBusiness();
      const id = randomUUID();
      await newUser(id);
      return calling(readUser, { account, path: { user: id } });
    },
    // Each release creates a consent receipt.
    repeat: 'new',
  },
  readTokenInfo: {
    prepare: async () => {
      const { account } = await newBusiness();
      const record = { label: 'test', permissions: ['stats'], created: '2026-11-20T09:58:09.118000' };
      await putAll([{ ...accountTokenKey(account, 'token-1'), ...record }]);
      return calling(readTokenInfo, { account });
    },
    readsOnly: true,
  },
  readConfiguration: {
    prepare: async () => {
      const { account } = await newBusiness();
      return calling(readConfiguration, { account });
    },
    readsOnly: true,
  },
  updateAccount: {
    prepare: async () => {
      const { account } = await newBusiness();
      return calling(updateAccount, { account, body: { name: 'Another name' } });
    },
  },
  'setAvatar: the first one': {
    prepare: async () => {
      const { account } = await newBusiness();
      return calling(setAvatar, { account, ...(await uploading(fileOf(png))) });
    },
  },
  'setAvatar: another one': {
    prepare: async () => {
      const { account } = await newBusiness();
      await storeAvatar(account, fileOf(png));
      return calling(setAvatar, { account, ...(await uploading(fileOf(jpeg))) });
    },
  },
  readAvatar: {
    prepare: async () => {
      const { account } = await newBusiness();
      await storeAvatar(account, fileOf(png));
      return calling(readAvatar, { account });
    },
    readsOnly: true,
  },
  listDeliveries: {
    prepare: async () => calling(listDeliveries, { account: (await newFailedDelivery()).account }),
    readsOnly: true,
  },
  readDelivery: {
    prepare: async () => {
      const { account, id } = await newFailedDelivery();
      return calling(readDelivery, { account, path: { delivery_id: id } });
    },
    readsOnly: true,
  },
  replayDelivery: {
    prepare: async () => {
      const { account, id } = await newFailedDelivery();
      return calling(replayDelivery, { account, path: { delivery_id: id } });
    },
    tellsRepeats: true,
  },
  recoverDeliveries: {
    prepare: async () => {
      const { account } = await newFailedDelivery();
      return calling(recoverDeliveries, { account, body: { since: 0 } });
    },
    tellsRepeats: true,
  },
  claimDeliveries: {
    prepare: async () => {
      const { account, phone } = await newBusiness();
      await addOffer(account, phone);
      const claim = calling(claimDeliveries, { account });
      return async () => {
        const answer = await claim();
        // Each claim has another id, and each signature another time.
        const types = Array.isArray(answer.body) ? answer.body.map(({ type }) => type) : answer.body;
        return { ...answer, body: types };
      };
    },
    repeatStatus: 204,
  },
  settleDelivery: {
    prepare: async () => {
      const { account, phone } = await newBusiness();
      await addOffer(account, phone);
      const [event] = await (await listenerOf(account))(1);
      return calling(settleDelivery, { account, body: { claim: event?.claim, status_code: 204 } });
    },
    // The event leaves the outbox, and then the conversation ends.
    parts: 2,
    tellsRepeats: true,
    repeatStatus: 404,
  },
  'settleDelivery: of an event that the program rejects for the first time': {
    prepare: async () => {
      const { account, phone } = await newBusiness();
      await addOffer(account, phone);
      const [event] = await (await listenerOf(account))(1);
      return calling(settleDelivery, { account, body: { claim: event?.claim, status_code: 400 } });
    },
    repeatStatus: 404,
  },
  'settleDelivery: of an event that the program rejects': {
    prepare: async () => {
      const { account, phone } = await newBusiness();
      await addOffer(account, phone);
      const [event] = await (await listenerOf(account))(1);
      // The program refused it an hour ago for the first time, so this is the last attempt.
      await update({
        Key: headKey(conversationName({ direction: 'platform', account, phone })),
        UpdateExpression: 'SET failed = newest, refused = :before',
        ExpressionAttributeValues: { ':before': sortableTime(Date.now() - 3_600_000) },
      });
      return calling(settleDelivery, { account, body: { claim: event?.claim, status_code: 400 } });
    },
    // The event leaves the outbox, and then the conversation ends.
    parts: 2,
    tellsRepeats: true,
    repeatStatus: 404,
  },
  'listLogs: of one state': {
    prepare: async () => {
      const { account, phone } = await newBusiness();
      await messages.sendMessage(account, textTo(phone), {});
      return calling(listLogs, { account, query: { state: 'sent' } });
    },
    readsOnly: true,
  },
  'listLogs: of all states': {
    prepare: async () => {
      const { account, phone } = await newBusiness();
      await messages.sendMessage(account, textTo(phone), {});
      return calling(listLogs, { account });
    },
    readsOnly: true,
  },
  listJobs: {
    prepare: async () => {
      const { account, phone } = await newBusiness();
      await messages.sendMessage(account, textTo(phone), {});
      await countEntries(await entriesOfLog());
      return calling(listJobs, { account, query: EVER });
    },
    readsOnly: true,
  },
} satisfies Record<string, Scenario>;

export const authorizing: Scenario = {
  prepare: async () => {
    const { token } = await newCaller('stats');
    return () =>
      authorizer({
        routeKey: 'GET /v1/stats/logs',
        identitySource: [`Bearer ${token}`],
        requestContext: { requestId: 'request-1' },
      });
  },
  readsOnly: true,
};
