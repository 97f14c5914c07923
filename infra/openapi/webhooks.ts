/** The requests of the service to an account's plain webhook and to the app network. */
import * as v from 'valibot';
import { type SchemaDocs, TIME } from '../../shared/api/docs.ts';
import { reasonCodes, states } from '../../shared/outbox/message.ts';
import { propertyNames } from '../../shared/users/profile-properties.ts';
import { degrees } from '../../shared/validation/schemas.ts';

interface Webhook {
  /** The destination. */
  to: 'webhook' | 'endpoint' | 'app';
  summary: string;
  schema: v.GenericSchema;
  example: object;
}

const integer = v.pipe(v.number(), v.metadata({ type: 'integer' }));
const text = v.strictObject({ body: v.string() });
/** What a business or a user sends at a URL. Those of businesses have no more than a URL and a caption. */
const media = v.strictObject({ url: v.string(), caption: v.exactOptional(v.string()) });
const userMedia = v.strictObject({
  ...media.entries,
  filename: v.exactOptional(v.string()),
  mime_type: v.exactOptional(v.string()),
  size: v.exactOptional(integer),
});
const location = v.strictObject({
  latitude: degrees(90),
  longitude: degrees(180),
  name: v.exactOptional(v.string()),
  address: v.exactOptional(v.string()),
});
const state = v.picklist(states);

/** The business's own name for the message or the request. */
const reference = v.exactOptional(v.string());

const reply = {
  in_reply_to: v.exactOptional(v.string()),
  quick_reply: v.exactOptional(v.strictObject({ index: integer })),
};
const received = { from: v.string(), ...reply };
const sending = { id: v.string(), from: v.exactOptional(v.string()), to: v.string() };
const offered = { quick_replies: v.exactOptional(v.array(v.string())) };

/** An event of version 2, by its type and data. */
const event = <const Type extends string, Data extends v.GenericSchema>(type: Type, data: Data) =>
  v.strictObject({
    id: v.string(),
    type: v.literal(type),
    created: v.string(),
    bot_number: v.nullable(v.string()),
    data,
  });

const person = { contact: v.string(), phone_number: v.nullable(v.string()) };
const ofMessage = { message_id: v.string(), job_id: v.string(), ...person };
const ofUser = { ...ofMessage, ...reply };
const ofRequest = { request_id: v.string(), reference, ...person };
const endedConsent = v.strictObject({ ...ofRequest, properties: v.array(v.picklist(propertyNames)) });
const changedOptOut = v.strictObject({ ...person, by: v.exactOptional(v.literal('message')) });

const exampleOf = (type: string, data: object) => ({
  id: '019a9f5e-2c16-7e5f-a7f8-091a2b3c4d5e',
  type,
  created: '2026-11-20T09:58:09.118000Z',
  bot_number: '27820000001',
  data,
});
const examplePerson = { contact: '27821234567@users.example.com', phone_number: '27821234567' };
const exampleMessage = {
  message_id: '019a9f5e-2c13-7a2b-b4c5-d6e7f8091a2b',
  job_id: '019a9f5e-2c11-7d3a-9a51-6f0a7c3e8b10',
};
const exampleRequest = { request_id: '019a9f5e-2c14-7b3c-85d6-e7f8091a2b3c', ...examplePerson };

/** Webhooks by their names in the API description. */
export const webhooks = {
  'message.received': {
    to: 'endpoint',
    summary: 'A user sent a message to your bot.',
    schema: event(
      'message.received',
      v.variant('type', [
        v.strictObject({ ...ofUser, type: v.literal('text'), text }),
        v.strictObject({ ...ofUser, type: v.literal('image'), image: userMedia }),
        v.strictObject({ ...ofUser, type: v.literal('file'), file: userMedia }),
        v.strictObject({ ...ofUser, type: v.literal('audio'), audio: userMedia }),
        v.strictObject({ ...ofUser, type: v.literal('video'), video: userMedia }),
        v.strictObject({ ...ofUser, type: v.literal('location'), location }),
      ]),
    ),
    example: exampleOf('message.received', {
      ...{ ...exampleMessage, ...examplePerson },
      ...{ type: 'text', text: { body: 'Hello' } },
    }),
  },
  'message.state': {
    to: 'endpoint',
    summary: 'One of your messages reached a state.',
    schema: event(
      'message.state',
      v.strictObject({ ...ofMessage, reference, state, reason: v.exactOptional(v.picklist(reasonCodes)) }),
    ),
    example: exampleOf('message.state', { ...exampleMessage, ...examplePerson, state: 'delivered_to_user' }),
  },
  'user.stopped': {
    to: 'endpoint',
    summary: 'A user stopped your account.',
    schema: event('user.stopped', changedOptOut),
    example: exampleOf('user.stopped', examplePerson),
  },
  'user.started': {
    to: 'endpoint',
    summary: 'A user started your account again.',
    schema: event('user.started', changedOptOut),
    example: exampleOf('user.started', examplePerson),
  },
  'user_data.completed': {
    to: 'endpoint',
    summary: 'One of your user data requests is completed. Fetch what was granted.',
    schema: event('user_data.completed', v.strictObject(ofRequest)),
    example: exampleOf('user_data.completed', exampleRequest),
  },
  'user_data.withdrawn': {
    to: 'endpoint',
    summary: 'A user withdrew consent: delete your copy of these properties, and confirm it.',
    schema: event('user_data.withdrawn', endedConsent),
    example: exampleOf('user_data.withdrawn', { ...exampleRequest, properties: ['first_name'] }),
  },
  'user_data.expired': {
    to: 'endpoint',
    summary: 'Consent has expired: delete your copy of these properties, and confirm it.',
    schema: event('user_data.expired', endedConsent),
    example: exampleOf('user_data.expired', { ...exampleRequest, properties: ['first_name'] }),
  },
  'webhook.test': {
    to: 'endpoint',
    summary: 'You test one of your webhooks.',
    schema: event('webhook.test', v.strictObject({ webhook_id: v.string() })),
    example: exampleOf('webhook.test', { webhook_id: '019a9f5e-2c1b-73a4-bc5d-6e7f8091a2b3' }),
  },
  message: {
    to: 'webhook',
    summary: 'A user sent a message to your bot.',
    schema: v.strictObject({
      message: v.variant('type', [
        v.strictObject({ ...received, type: v.literal('text'), text }),
        v.strictObject({ ...received, type: v.literal('image'), image: userMedia }),
        v.strictObject({ ...received, type: v.literal('file'), file: userMedia }),
        v.strictObject({ ...received, type: v.literal('audio'), audio: userMedia }),
        v.strictObject({ ...received, type: v.literal('video'), video: userMedia }),
        v.strictObject({ ...received, type: v.literal('location'), location }),
      ]),
    }),
    example: { message: { from: '27821234567', type: 'text', text: { body: 'Hello' } } },
  },
  status: {
    to: 'webhook',
    summary: 'One of your messages reached a state.',
    schema: v.strictObject({
      status: v.strictObject({
        id: v.string(),
        state,
        contact: v.string(),
        job_id: v.string(),
        created: v.string(),
        reference,
      }),
    }),
    example: {
      status: {
        id: '019a9f5e-2c13-7a2b-b4c5-d6e7f8091a2b',
        state: 'delivered_to_user',
        contact: '27821234567@users.example.com',
        job_id: '019a9f5e-2c11-7d3a-9a51-6f0a7c3e8b10',
        created: '2026-11-20T09:58:09.118000',
      },
    },
  },
  user_data: {
    to: 'webhook',
    summary: 'One of your user data requests is completed. Fetch what was granted.',
    schema: v.strictObject({
      user_data: v.strictObject({
        id: v.string(),
        status: v.literal('completed'),
        contact: v.string(),
        completed: v.string(),
        reference,
      }),
    }),
    example: {
      user_data: {
        id: '019a9f5e-2c14-7b3c-85d6-e7f8091a2b3c',
        status: 'completed',
        contact: '27821234567@users.example.com',
        completed: '2026-11-20T09:58:09.118000',
      },
    },
  },
  user_data_ended: {
    to: 'webhook',
    summary: 'Consent has ended: delete your copy of these properties, and confirm it.',
    schema: v.strictObject({
      user_data: v.strictObject({
        id: v.string(),
        status: v.picklist(['withdrawn', 'expired']),
        properties: v.array(v.picklist(propertyNames)),
        contact: v.string(),
        ended: v.string(),
        reference,
      }),
    }),
    example: {
      user_data: {
        id: '019a9f5e-2c14-7b3c-85d6-e7f8091a2b3c',
        status: 'withdrawn',
        properties: ['first_name'],
        contact: '27821234567@users.example.com',
        ended: '2026-11-20T09:58:09.118000',
      },
    },
  },
  user: {
    to: 'webhook',
    summary: 'A user stopped your account, or started it again.',
    schema: v.strictObject({
      user: v.strictObject({
        contact: v.string(),
        state: v.picklist(['stopped', 'started']),
        by: v.exactOptional(v.literal('message')),
      }),
    }),
    example: { user: { contact: '27821234567@users.example.com', state: 'stopped' } },
  },
  'message.send': {
    to: 'app',
    summary: 'The app must show a message to a user.',
    schema: v.strictObject({
      type: v.literal('message.send'),
      timestamp: v.string(),
      data: v.variant('type', [
        v.strictObject({ ...sending, type: v.literal('text'), text, ...offered }),
        v.strictObject({ ...sending, type: v.literal('image'), image: media, ...offered }),
        v.strictObject({ ...sending, type: v.literal('file'), file: media, ...offered }),
        v.strictObject({ ...sending, type: v.literal('audio'), audio: media, ...offered }),
        v.strictObject({ ...sending, type: v.literal('video'), video: media, ...offered }),
      ]),
    }),
    example: {
      type: 'message.send',
      timestamp: '2026-11-20T09:58:09.118000Z',
      data: {
        id: '019a9f5e-2c13-7a2b-b4c5-d6e7f8091a2b',
        from: '27820000001',
        to: '27821234567',
        type: 'text',
        text: { body: 'Good morning!' },
        quick_replies: ['Hi', 'Stop'],
      },
    },
  },
  'account.updated': {
    to: 'app',
    summary: 'A business has another name or avatar.',
    schema: v.strictObject({
      type: v.literal('account.updated'),
      timestamp: v.string(),
      data: v.strictObject({ bot: v.string(), name: v.string(), avatar: v.nullable(v.string()) }),
    }),
    example: {
      type: 'account.updated',
      timestamp: '2026-11-20T09:58:09.118000Z',
      data: {
        bot: '27820000001',
        name: 'Acme Research',
        avatar: 'https://bridge.example.com/media/0a1b2c3d4e5f60718293a4b5c6d7e8f9',
      },
    },
  },
  'user_data.request': {
    to: 'app',
    summary: 'The user must answer a request of a business in the app.',
    schema: v.strictObject({
      type: v.literal('user_data.request'),
      timestamp: v.string(),
      data: v.strictObject({
        id: v.string(),
        to: v.string(),
        business: v.string(),
        reason: v.string(),
        properties: v.array(
          v.strictObject({
            property: v.picklist(propertyNames),
            reason: v.exactOptional(v.string()),
            required: v.boolean(),
          }),
        ),
        valid_days: v.exactOptional(integer),
      }),
    }),
    example: {
      type: 'user_data.request',
      timestamp: '2026-11-20T09:58:09.118000Z',
      data: {
        id: '019a9f5e-2c14-7b3c-85d6-e7f8091a2b3c',
        to: '27821234567',
        business: 'Acme Research',
        reason: 'To open your account',
        properties: [{ property: 'first_name', reason: 'To greet you', required: true }],
        valid_days: 90,
      },
    },
  },
} as const satisfies Record<string, Webhook>;

export const webhookDocs: SchemaDocs = {
  names: {
    'webhook.message.received': 'MessageReceivedWebhook',
    'MessageReceivedWebhook.data': 'UserSentMessage',
    'UserSentMessage:text': 'UserSentText',
    'UserSentText.text': 'ShownText',
    'UserSentText.quick_reply': 'QuickReplyChoice',
    'UserSentMessage:image': 'UserSentImage',
    'UserSentImage.image': 'IncomingMedia',
    'UserSentImage.quick_reply': 'QuickReplyChoice',
    'UserSentMessage:file': 'UserSentFile',
    'UserSentFile.file': 'IncomingMedia',
    'UserSentFile.quick_reply': 'QuickReplyChoice',
    'UserSentMessage:audio': 'UserSentAudio',
    'UserSentAudio.audio': 'IncomingMedia',
    'UserSentAudio.quick_reply': 'QuickReplyChoice',
    'UserSentMessage:video': 'UserSentVideo',
    'UserSentVideo.video': 'IncomingMedia',
    'UserSentVideo.quick_reply': 'QuickReplyChoice',
    'UserSentMessage:location': 'UserSentLocation',
    'UserSentLocation.location': 'IncomingPlace',
    'UserSentLocation.quick_reply': 'QuickReplyChoice',
    'webhook.message.state': 'MessageStateWebhook',
    'MessageStateWebhook.data': 'StateOfMessage',
    'StateOfMessage.state': 'DeliveryState',
    'webhook.user.stopped': 'UserStoppedWebhook',
    'UserStoppedWebhook.data': 'ChangedOptOut',
    'webhook.user.started': 'UserStartedWebhook',
    'UserStartedWebhook.data': 'ChangedOptOut',
    'webhook.user_data.completed': 'UserDataCompletedWebhook',
    'UserDataCompletedWebhook.data': 'CompletedRequest',
    'webhook.user_data.withdrawn': 'UserDataWithdrawnWebhook',
    'UserDataWithdrawnWebhook.data': 'EndedConsent',
    'webhook.user_data.expired': 'UserDataExpiredWebhook',
    'UserDataExpiredWebhook.data': 'EndedConsent',
    'EndedConsent.properties[]': 'PropertyName',
    'webhook.webhook.test': 'WebhookTestWebhook',
    'WebhookTestWebhook.data': 'WebhookTest',
    'NotifiedStatus.state': 'DeliveryState',
    'EndedUserData.properties[]': 'PropertyName',
    'webhook.message': 'MessageNotification',
    'MessageNotification.message': 'IncomingMessage',
    'IncomingMessage:text': 'IncomingText',
    'IncomingMessage:image': 'IncomingImage',
    'IncomingMessage:file': 'IncomingFile',
    'IncomingText.text': 'ShownText',
    'IncomingImage.image': 'IncomingMedia',
    'IncomingFile.file': 'IncomingMedia',
    'IncomingMessage:audio': 'IncomingAudio',
    'IncomingMessage:video': 'IncomingVideo',
    'IncomingMessage:location': 'IncomingLocation',
    'IncomingAudio.audio': 'IncomingMedia',
    'IncomingVideo.video': 'IncomingMedia',
    'IncomingLocation.location': 'IncomingPlace',
    'IncomingText.quick_reply': 'QuickReplyChoice',
    'IncomingImage.quick_reply': 'QuickReplyChoice',
    'IncomingFile.quick_reply': 'QuickReplyChoice',
    'IncomingAudio.quick_reply': 'QuickReplyChoice',
    'IncomingVideo.quick_reply': 'QuickReplyChoice',
    'IncomingLocation.quick_reply': 'QuickReplyChoice',
    'webhook.status': 'StatusNotification',
    'StatusNotification.status': 'NotifiedStatus',
    'webhook.user_data': 'UserDataNotification',
    'UserDataNotification.user_data': 'CompletedUserData',
    'webhook.user_data_ended': 'UserDataEndedNotification',
    'UserDataEndedNotification.user_data': 'EndedUserData',
    'webhook.user': 'UserNotification',
    'UserNotification.user': 'NotifiedUser',
    'webhook.message.send': 'MessageSendRequest',
    'MessageSendRequest.data': 'ShownMessage',
    'ShownMessage:text': 'ShownTextMessage',
    'ShownMessage:image': 'ShownImageMessage',
    'ShownMessage:file': 'ShownFileMessage',
    'ShownTextMessage.text': 'ShownText',
    'ShownImageMessage.image': 'ShownMedia',
    'ShownFileMessage.file': 'ShownMedia',
    'ShownMessage:audio': 'ShownAudioMessage',
    'ShownMessage:video': 'ShownVideoMessage',
    'ShownAudioMessage.audio': 'ShownMedia',
    'ShownVideoMessage.video': 'ShownMedia',
    'webhook.account.updated': 'AccountUpdatedRequest',
    'AccountUpdatedRequest.data': 'UpdatedAccount',
    'webhook.user_data.request': 'UserDataConsentRequest',
    'UserDataConsentRequest.data': 'ConsentRequest',
    'ConsentRequest.properties[]': 'ConsentProperty',
  },
  fields: {
    bot_number: 'The number of your bot; null if you have none.',
    'MessageReceivedWebhook.created': 'When it happened, in UTC, with `Z`.',
    'MessageStateWebhook.created': 'When it happened, in UTC, with `Z`.',
    'UserStoppedWebhook.created': 'When it happened, in UTC, with `Z`.',
    'UserStartedWebhook.created': 'When it happened, in UTC, with `Z`.',
    'UserDataCompletedWebhook.created': 'When it happened, in UTC, with `Z`.',
    'UserDataWithdrawnWebhook.created': 'When it happened, in UTC, with `Z`.',
    'UserDataExpiredWebhook.created': 'When it happened, in UTC, with `Z`.',
    'WebhookTestWebhook.created': 'When it happened, in UTC, with `Z`.',
    'StateOfMessage.reason': 'Why the message failed, if it did.',
    'StateOfMessage.reference': 'Your `reference` of the message, if it has one.',
    'CompletedRequest.reference': 'Your `reference` of the request, if it has one.',
    'EndedConsent.reference': 'Your `reference` of the request, if it has one.',
    'ChangedOptOut.by':
      'Set if the user wrote a keyword, such as STOP, to your bot. Otherwise, the change was made in the app.',
    business: "The account's name.",
    completed: `When the user had answered for every property. ${TIME}`,
    'NotifiedStatus.reference': 'Your `reference` of the message, if it has one.',
    'CompletedUserData.reference': 'Your `reference` of the request, if it has one.',
    'EndedUserData.reference': 'Your `reference` of the request, if it has one.',
    ended: `When the consent ended. ${TIME}`,
    'NotifiedUser.by':
      'Set if the user wrote a keyword, such as STOP, to your bot. Otherwise, the change was made in the app.',
    'NotifiedUser.state':
      '`stopped`: the user no longer wants messages of your account. `started`: the user wants them again.',
  },
  guarantees: {
    'CompletedUserData.id': 'id',
    'ConsentRequest.id': 'id',
    'ConsentRequest.to': 'phone',
    'EndedUserData.ended': 'time',
    'EndedUserData.id': 'id',
    'IncomingFile.from': 'phone',
    'IncomingImage.from': 'phone',
    'IncomingText.from': 'phone',
    'IncomingAudio.from': 'phone',
    'IncomingVideo.from': 'phone',
    'IncomingLocation.from': 'phone',
    'NotifiedStatus.id': 'id',
    'ShownFileMessage.id': 'id',
    'ShownFileMessage.to': 'phone',
    'ShownImageMessage.id': 'id',
    'ShownImageMessage.to': 'phone',
    'ShownTextMessage.id': 'id',
    'ShownTextMessage.to': 'phone',
    'ShownAudioMessage.id': 'id',
    'ShownAudioMessage.to': 'phone',
    'ShownVideoMessage.id': 'id',
    'ShownVideoMessage.to': 'phone',
    'UpdatedAccount.avatar': 'url',
  },
};
