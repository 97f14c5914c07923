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
again, unless the message has failed. A blank text is accepted, and nothing is sent: the response has no \`id\`.`,
      names: { request: 'RapidproMessage', 200: 'RapidproReceipt' },
      links: { readMessage: ['/id', 'Read the states of the message.'] },
      examples: {
        shows: 'A text with quick replies',
        body: { id: '21', text: 'Hello & welcome', to_no_plus: user, quick_reply: ['Yes', 'No & maybe'] },
        answer: { message: 'success', id: '019a9f5e-2c16-7e5f-a7f8-091a2b3c4d5e' },
      },
    },
    receiveTurnMessage: {
      text: `The path contains the token, in base64url without padding. Texts, images and documents are accepted, in the format of the
Channel API and of WhatsApp. Ordinary webhooks of Turn return 200 and are ignored. If the operator has set the channel's
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
    'TurnReceipt.messages[]': 'AcceptedMessage',
    'TestMessageDocument.message': 'TestMessage',
    'TestMessage.text': 'UserText',
  },
  fields: {
    'X-Turn-Hook-Signature': "HMAC-SHA256 of the body with the channel's `hmac_secret`, in base64.",
    'X-Turn-Hook-Subscription': 'If present, the request is an ordinary webhook.',
    bot_phone_number: "Your bot's number.",
    encoded_token: 'The token in base64url without padding, on one line.',
    quick_reply: 'Replies that the app offers as buttons, in this order: one field for each, at most 10.',
    to_no_plus: "The user's phone number. Alternatively, use `to`.",
  },
};
