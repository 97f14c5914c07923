/**
 * @module-tag long
 *
 * Two requests that a destination answers with 429 at the same time: the longer of the two pauses applies.
 */
import type { ServerResponse } from 'node:http';
import { crc32 } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { conversationName } from '../../../../shared/outbox/entities.ts';
import { DestinationServer } from '../../support/destination-server.ts';
import { write } from '../../support/phones.ts';
import { newCaller, newPhone } from '../../support/world.ts';

const SECRET = `whsec_${'A'.repeat(43)}=`;

/** The message groups of an account's wake-ups. Only conversations of different groups are delivered in parallel. */
const GROUPS = 16;

/** Phone numbers of two users whose conversations with an account are delivered in parallel. */
const twoUsers = (account: string): [string, string] => {
  const groupOf = (phone: string) => crc32(conversationName({ direction: 'platform', account, phone })) % GROUPS;
  const first = newPhone();
  let second = newPhone();
  while (groupOf(second) === groupOf(first)) second = newPhone();
  return [first, second];
};

// The two attempts overlap only if the second begins before the first ends, after a third of a second at most. On a busy
// machine it may begin later.
test('a pause of 3 s that a destination asked for is not shortened by a later response that asks for 1 s', {
  retry: 3,
  tags: 'long',
}, async () => {
  const destination = await DestinationServer.start();
  onTestFinished(() => destination.close());
  const { account } = await newCaller('bridge');
  const bot = newPhone();
  await updateAccount(account, {
    bot_number: bot,
    platform: { name: 'webhook', settings: { url: destination.url, secret: SECRET } },
  });
  const limited: ServerResponse[] = [];
  let pauseEnd = 0;
  destination.answers = [
    (response) => limited.push(response),
    (response) => {
      pauseEnd = Date.now() + 3_000;
      limited[0]?.once(
        'finish',
        () => void setTimeout(() => response.writeHead(429, { 'retry-after': '1' }).end(), 300),
      );
      limited[0]?.writeHead(429, { 'retry-after': '3' }).end();
    },
    204,
  ];
  await Promise.all(twoUsers(account).map((phone) => write(phone, bot, `from ${phone}`)));
  await expect.poll(() => destination.calls.length).toBe(2);
  await expect.poll(() => destination.calls.length).toBeGreaterThan(2);
  expect(Date.now()).toBeGreaterThanOrEqual(pauseEnd);
  await expect.poll(() => destination.calls.length).toBe(4);
});
