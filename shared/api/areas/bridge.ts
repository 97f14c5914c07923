/** Requests of chat platforms. */
import * as v from 'valibot';
import { rapidproMessage } from '../../destinations/rapidpro.ts';
import { anyObject, responseList } from '../../validation/bounded.ts';
import { phoneNumberOrPlus, receivedText } from '../../validation/schemas.ts';

import { define } from '../endpoint.ts';

export const bridge = {
  receiveRapidproMessage: define({
    area: 'bridge',
    summary: 'Receive a message, or a part of one, that RapidPro sends to a user.',
    routes: [
      { host: 'bridge', method: 'POST', path: '/v1/webhook/rapidpro' },
      { host: 'bridge', method: 'POST', path: '/v1/webhook/rapidpro/' },
    ],
    // API Gateway rejects routes that end with a slash, and does not document whether `{proxy+}` matches an empty rest.
    // If it does, the first of these routes serves the path with the slash, else the second one.
    catchAll: [
      { host: 'bridge', method: 'POST', path: '/v1/webhook/rapidpro/{proxy+}' },
      { host: 'bridge', method: 'ANY', path: '$default' },
    ],
    token: 'header',
    permission: 'bridge',
    body: { type: 'form', schema: rapidproMessage },
    ignoresUnknown: true,
    responses: { 200: v.object({ message: v.literal('success'), id: v.optional(v.string()) }) },
    problems: [],
    // Newer couriers fail a message permanently after a 429, and repeat it after a 503.
    overLimit: 'unavailable',
    hashes: true,
    wakes: true,
    table: [
      'findMedia',
      'findAccount',
      'findWritten',
      'logAndEnqueueAgain',
      'listStatusReceipts',
      'noteRepeat',
      'reportAgain',
      'listStates',
      'findHook',
    ],
  }),

  receiveTurnMessage: define({
    area: 'bridge',
    summary: 'Receive a message that Turn sends to a user.',
    routes: [{ host: 'bridge', method: 'POST', path: '/v1/webhook/turn/{encoded_token}' }],
    token: 'path',
    permission: 'bridge',
    path: v.object({ encoded_token: v.string() }),
    headers: v.object({
      'x-turn-hook-signature': v.optional(v.string()),
      'x-turn-hook-subscription': v.optional(v.string()),
      'x-whatsapp-id': v.optional(v.string()),
    }),
    // Bodies that are not messages may have any form: `platforms/turn.ts` parses them.
    body: { type: 'json', schema: anyObject },
    ignoresUnknown: true,
    responses: { 200: v.object({ messages: responseList(v.object({ id: v.string() })) }) },
    problems: ['signature_invalid'],
    hashes: true,
    wakes: true,
    table: ['findMedia', 'findHook', 'findAccount', 'findWritten', 'logAndEnqueue'],
  }),

  receiveTestMessage: define({
    area: 'bridge',
    summary: 'Write to one of your bots as a user of the app would.',
    routes: [
      { host: 'bridge', method: 'POST', path: '/webhook/{bot_phone_number}' },
      { host: 'bridge', method: 'POST', path: '/v1/webhook/{bot_phone_number}' },
    ],
    token: 'header',
    permission: 'bridge',
    path: v.object({ bot_phone_number: v.string() }),
    body: {
      type: 'json',
      schema: v.object({
        message: v.object({
          type: v.literal('text'),
          from: phoneNumberOrPlus,
          text: v.object({ body: receivedText }),
        }),
      }),
    },
    responses: { 200: v.object({ message: v.literal('success') }) },
    problems: ['bot_not_found'],
    hashes: true,
    wakes: true,
    table: ['findBot', 'noteWritten', 'logAndEnqueue', 'findAccount', 'findOptOut', 'findRemoval', 'recordOptOut'],
  }),
} as const;
