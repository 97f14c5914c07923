/** Requests of chat platforms. */
import { createHmac } from 'node:crypto';
import { updateAccount } from '../../../infra/operator/queries/accounts-admin.ts';
import type { bridge } from '../../../shared/api/areas/bridge.ts';
import { hashOf } from '../../../shared/core/idempotency.ts';
import { repeatsKey, statusReceiptKey } from '../../../shared/messaging/entities.ts';
import { sendFromPlatform } from '../../../shared/messaging/platform-messages.ts';
import { put, putAll } from '../../../shared/table/client.ts';
import { newBusiness } from '../in-process/failing-calls/world.ts';
import { reportState } from '../support/states.ts';
import { newPhone } from '../support/world.ts';
import { CONTENT, consistent, inTransaction, PAGE, RECEIVED, TEXT } from './kilobytes.ts';
import type { Scenarios } from './scenarios.ts';
import { longest, longestContent, longestReceived, MAX_RECEIVED, MAX_TEXT } from './world.ts';

export const bridgeScenarios: Scenarios<typeof bridge> = {
  receiveRapidproMessage: {
    prepare: async ({ phone }) => {
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      return {
        route: 'POST /v1/webhook/rapidpro/',
        headers,
        body: `id=21&text=Hello&to=${phone}`,
      };
    },
    // Of a repeat, RapidPro shows the message as on its way, so statuses from before the repeat do not count.
    notesRepeats: true,
    max: {
      read: 6 + consistent(PAGE),
      write: inTransaction(400) + 2 * (inTransaction(CONTENT) + 12),
      of: 'a Resend after 400 KB of repeats of one message',
    },
    worst: {
      // A Resend of a message whose record of repeats is as large as an item may be, after many reported failures.
      prepare: async ({ account }) => {
        await updateAccount(account, {
          platform: { name: 'rapidpro', settings: { url: 'https://example.com/' } },
        });
        const id = '4'.repeat(255);
        const to = newPhone();
        const replies = longestContent().quick_replies;
        const sent = { to, type: 'text' as const, text: { body: longest(MAX_TEXT) }, quick_replies: replies };
        await reportState(await sendFromPlatform(account, 'rapidpro', { reference: id, ...sent }), 'delivery_failed');
        const contents = Object.fromEntries(
          Array.from({ length: 6_200 }, (_, place) => [
            hashOf({ place }),
            { copies: [0], requests: 2, last: Date.now() },
          ]),
        );
        await put({ ...repeatsKey(account, id), generation: 0, last: 0, replaced: [], contents, version: 1 });
        await putAll(
          Array.from({ length: 800 }, (_, place) => ({
            ...statusReceiptKey(account, id, place, 'failed'),
            ...{ generation: place, began: Date.now(), reported: Date.now() },
          })),
        );
        const form = new URLSearchParams({ id, to_no_plus: to, text: longest(MAX_TEXT) });
        for (const reply of replies) form.append('quick_reply', reply);
        return {
          route: 'POST /v1/webhook/rapidpro/',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: form.toString(),
        };
      },
      beyond: ({ body }) => ({ body: `${body}&quick_reply=x` }),
    },
  },
  receiveTurnMessage: {
    prepare: async () => {
      const secret = 'the hmac_secret of a channel';
      const settings = { url: 'https://turn.example.com', channel: 'channel', token: 'token' };
      const { account, phone } = await newBusiness({ name: 'turn', settings, hook: { hmac_secret: secret } });
      const body = JSON.stringify({ to: phone, content: 'Hello' });
      const signature = createHmac('sha256', secret).update(body).digest('base64');
      const headers = { 'content-type': 'application/json', 'x-turn-hook-signature': signature };
      return { account, path: { encoded_token: 'token' }, headers, body };
    },
    // Turn's requests have no message id.
    repeat: 'new',
    max: { read: 3, write: inTransaction(TEXT) + 13, of: '4,096 characters' },
    worst: {
      prepare: async () => {
        const body = { to: newPhone(), content: longest(MAX_TEXT) };
        return { path: { encoded_token: 'token' }, body };
      },
      beyond: ({ body }) => ({ body: { ...(body as object), content: longest(MAX_TEXT + 1) } }),
    },
  },
  receiveTestMessage: {
    prepare: async ({ bot, phone }) => {
      const body = { message: { type: 'text', from: phone, text: { body: 'Hello' } } };
      return { path: { bot_phone_number: bot }, body };
    },
    // The time of the user's last message, and the message.
    parts: 2,
    repeat: 'new',
    max: { read: 1, write: inTransaction(RECEIVED) + 14, of: '65,536 characters' },
    worst: {
      prepare: async ({ bot }) => {
        const { from, type, text } = longestReceived(newPhone(), bot);
        return { path: { bot_phone_number: bot }, body: { message: { from, type, text } } };
      },
      beyond: () => ({
        body: { message: { from: newPhone(), type: 'text', text: { body: longest(MAX_RECEIVED + 1) } } },
      }),
    },
  },
};
