/** Texts, names and examples of requests of chat platforms. */

import * as v from 'valibot';
import { turnMessages } from '../../destinations/turn.ts';
import type { AreaDocs } from '../docs.ts';
import { placeholders } from '../placeholders.ts';
import type { bridge } from './bridge.ts';

const { user, bot, encodedToken } = placeholders;

export const bridgeDocs: AreaDocs<typeof bridge> = {
  name: 'Bridge',
  description: 'Requests of chat platforms. On the bridge host.',
  endpoints: {
    receiveRapidproMessage: {
      text: `For a channel of the type _External API_ (form fields). The number is in \`to_no_plus\`, or in \`to\`. Quick replies are
repeated fields. Each part of a long text is a message. A repeat (same \`id\`, text and quick replies) is accepted and not sent
again, unless the message has failed. If the last line is a datafree URL of your account alone, the user receives the picture or the
file with the text as its caption. A blank text is accepted, and nothing is sent: the response has no \`id\`.`,
      names: { request: 'RapidproMessage', 200: 'RapidproReceipt' },
      links: { readMessage: ['/id', 'Read the states of the message.'] },
      examples: {
        shows: 'A text with quick replies',
        body: { id: '21', text: 'Hello & welcome', to_no_plus: user, quick_reply: ['Yes', 'No & maybe'] },
        answer: { message: 'success', id: '019a9f5e-2c16-7e5f-a7f8-091a2b3c4d5e' },
      },
    },
    receiveTurnMessage: {
      text: `The path contains the token, in base64url without padding. All types are accepted, in the format of the Channel API
and of WhatsApp. Buttons and rows of lists become quick replies. A location becomes a text with a \`geo\` URI. What the app cannot
show, such as a template, becomes the text in \`content\`; without one, the response is 422. A datafree URL of your account is shown as what it is, with the text as its caption.
Ordinary webhooks of Turn, and copies of sent messages, return 200 and are ignored. If the operator has set the channel's
\`hmac_secret\`, \`X-Turn-Hook-Signature\` must be valid.`,
      names: { request: 'TurnMessage', 200: 'TurnReceipt' },
      body: v.union(turnMessages),
      examples: [
        {
          shows: 'In the shape of the Channel API',
          path: { encoded_token: encodedToken },
          body: { to: `+${user}`, content: 'Hello', turn: { type: 'text', text: { body: 'Hello' } }, context: null },
          answer: { messages: [{ id: '019a9f5e-2c17-7f60-b809-1a2b3c4d5e6f' }] },
        },
        {
          shows: "In WhatsApp's shape",
          path: { encoded_token: encodedToken },
          body: { to: user, recipient_type: 'individual', type: 'text', text: { body: 'Hello' } },
          answer: { messages: [{ id: '019a9f5e-2c18-7071-891a-2b3c4d5e6f70' }] },
        },
        {
          shows: 'Buttons, which become quick replies',
          path: { encoded_token: encodedToken },
          body: {
            to: user,
            type: 'interactive',
            interactive: {
              body: { text: 'Will you come?' },
              action: { buttons: [{ reply: { title: 'Yes' } }, { reply: { title: 'No' } }] },
            },
          },
          answer: { messages: [{ id: '019a9f5e-2c19-7182-8a2b-3c4d5e6f7081' }] },
        },
      ],
    },
    receiveTestMessage: {
      text: `The message is logged and sent to your platform. The platform's replies are sent to \`from\`, as if that user had
written to the bot in the app.`,
      names: { request: 'TestMessageDocument', 200: 'TestMessageReceipt' },
      examples: {
        shows: 'As if the user wrote to the bot',
        path: { bot_phone_number: bot },
        body: { message: { type: 'text', from: user, text: { body: 'hi' } } },
        answer: { message: 'success' },
      },
    },
  },
  names: {
    'TurnMessage:0': 'TurnChannelMessage',
    'TurnChannelMessage.turn': 'TurnContent',
    'TurnContent:text': 'TurnTextContent',
    'TurnContent:image': 'TurnImageContent',
    'TurnContent:document': 'TurnDocumentContent',
    'TurnTextContent.text': 'ReceivedText',
    'TurnImageContent.image': 'TurnMedia',
    'TurnDocumentContent.document': 'TurnMedia',
    'TurnMessage:1': 'TurnPlainMessage',
    'TurnMessage:2': 'WhatsappMessage',
    'WhatsappMessage:text': 'WhatsappTextMessage',
    'WhatsappMessage:image': 'WhatsappImageMessage',
    'WhatsappMessage:document': 'WhatsappDocumentMessage',
    'WhatsappTextMessage.text': 'ReceivedText',
    'WhatsappImageMessage.image': 'TurnMedia',
    'WhatsappDocumentMessage.document': 'TurnMedia',
    'TurnContent:audio': 'TurnAudioContent',
    'WhatsappMessage:audio': 'WhatsappAudioMessage',
    'TurnAudioContent.audio': 'TurnMedia',
    'WhatsappAudioMessage.audio': 'TurnMedia',
    'TurnContent:video': 'TurnVideoContent',
    'WhatsappMessage:video': 'WhatsappVideoMessage',
    'TurnVideoContent.video': 'TurnMedia',
    'WhatsappVideoMessage.video': 'TurnMedia',
    'TurnContent:sticker': 'TurnStickerContent',
    'WhatsappMessage:sticker': 'WhatsappStickerMessage',
    'TurnStickerContent.sticker': 'TurnMedia',
    'WhatsappStickerMessage.sticker': 'TurnMedia',
    'TurnContent:location': 'TurnLocationContent',
    'WhatsappMessage:location': 'WhatsappLocationMessage',
    'TurnLocationContent.location': 'TurnLocation',
    'WhatsappLocationMessage.location': 'TurnLocation',
    'TurnContent:interactive': 'TurnInteractiveContent',
    'WhatsappMessage:interactive': 'WhatsappInteractiveMessage',
    'TurnInteractiveContent.interactive': 'TurnChoice',
    'WhatsappInteractiveMessage.interactive': 'TurnChoice',
    'TurnChoice.header': 'TurnHeader',
    'TurnHeader.image': 'TurnMedia',
    'TurnHeader.video': 'TurnMedia',
    'TurnHeader.document': 'TurnMedia',
    'TurnChoice.body': 'TurnBody',
    'TurnChoice.footer': 'TurnFooter',
    'TurnChoice.action': 'TurnAction',
    'TurnAction.buttons[]': 'TurnButton',
    'TurnButton.reply': 'TurnReply',
    'TurnAction.sections[]': 'TurnSection',
    'TurnSection.rows[]': 'TurnRow',
    'TurnReceipt.messages[]': 'AcceptedMessage',
    'TestMessageDocument.message': 'TestMessage',
    'TestMessage.text': 'UserText',
  },
  fields: {
    'X-Turn-Hook-Signature': "HMAC-SHA256 of the body with the channel's `hmac_secret`, in base64.",
    'X-Turn-Hook-Subscription': 'If present, the request is an ordinary webhook.',
    'X-Whatsapp-Id': 'If present, the request is a copy of a message that was sent.',
    bot_phone_number: "Your bot's number.",
    encoded_token: 'The token in base64url without padding, on one line.',
    quick_reply: 'Replies that the app offers as buttons, in this order: one field for each, at most 10.',
    to_no_plus: "The user's phone number. Alternatively, use `to`.",
  },
};
