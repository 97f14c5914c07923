/** Data for requests: typical ones, and the largest that the limits allow. */
import { randomInt, randomUUID } from 'node:crypto';
import { createAccount, updateAccount } from '../../../infra/operator/queries/accounts-admin.ts';
import { receiveMessage } from '../../../shared/messaging/receive.ts';
import { answerRequest } from '../../../shared/user-data/request-answers.ts';
import { startRequest } from '../../../shared/user-data/requests.ts';
import { isAutomatic, propertyNames } from '../../../shared/users/profile-properties.ts';
import { updateUser } from '../../../shared/users/users.ts';
import type { Units } from '../support/consumed.ts';
import { newAccountId, newPhone } from '../support/world.ts';

export const key = { 'idempotency-key': 'the-first' };

export const JOB = 'a9c8bd00-0c31-4ea2-9f4a-0a3d6a2f7f11';

export const uploading = async (file: File): Promise<{ headers: Record<string, string>; body: Buffer }> => {
  const form = new FormData();
  form.set('file', file);
  const encoded = new Response(form);
  const type = encoded.headers.get('content-type') ?? '';
  return { headers: { 'content-type': type }, body: Buffer.from(await encoded.arrayBuffer()) };
};

export const asked = [
  { property: 'first_name' as const, required: false },
  { property: 'device_make' as const, required: false },
];

/** A request whose user has approved it. */
export const newReleased = async (account: string, phone: string, valid_days?: number): Promise<string> => {
  const { id } = await startRequest(account, phone, { reason: 'Why not?', data: asked, valid_days }, undefined);
  await answerRequest(id, { first_name: 'approved' });
  return id;
};

const FLOWER = '\u{1F33B}';

/** A text of so many characters of four bytes: no character has more. */
export const longest = (characters: number, first = ''): string =>
  `${first}${FLOWER.repeat(characters - [...first].length)}`;

export const MAX_TEXT = 4_096;

export const MAX_RECEIVED = 65_536;

/** The longest text of a user, which is hardly compressible. */
export const NOISE = Array.from({ length: MAX_RECEIVED }, () => String.fromCodePoint(randomInt(0x10000, 0x20000))).join(
  '',
);

export const DAY_MS = 86_400_000;

export const longestKey = { 'idempotency-key': 'k'.repeat(255) };

/** A message with the longest content. */
export const longestContent = () => ({
  type: 'text' as const,
  text: { body: longest(MAX_TEXT) },
  quick_replies: Array.from({ length: 10 }, (_, index) => longest(MAX_TEXT / 10, `${index}`)),
});

export const scaled =
  (by: number) =>
  ({ read, write }: Units): Units => ({ read: read * by, write: write * by });

export const secret = `whsec_${Buffer.alloc(32).toString('base64')}`;

/** A new account with a bot and a webhook. */
export const largestBusiness = async (url = 'https://example.com/') => {
  const settings = { url, secret };
  const bot = newPhone();
  // The longest id and name.
  const id = newAccountId().padEnd(40, '0');
  const { id: account } = await createAccount({ name: longest(100, 'A'), id, bot_number: bot });
  await updateAccount(account, { platform: { name: 'webhook', settings } });
  return { account, bot, phone: newPhone() };
};

export const longestProfile = () =>
  Object.fromEntries(propertyNames.map((name) => [name, { value: longest(1_000), source: longest(255) }]));

/** A user with the longest value of each property. */
export const largestUser = async (panelist = false): Promise<string> => {
  const phone = newPhone();
  await updateUser(randomUUID(), { phone_number: phone, id: randomUUID(), panelist, properties: longestProfile() });
  return phone;
};

/** A request for all properties, with the longest reasons, of a user with the longest profile. */
export const asking = () => ({
  reason: longest(1_000),
  data: propertyNames.map((property) => ({ property, reason: longest(1_000), required: true })),
  valid_days: 1,
});

/** A request of which the user has approved all properties but one. */
export const largestRequest = async (account: string, isComplete = false) => {
  const phone = await largestUser();
  const { id } = await startRequest(account, phone, asking(), undefined);
  const asked = propertyNames.filter((name) => !isAutomatic(name));
  await answerRequest(id, Object.fromEntries(asked.slice(isComplete ? 0 : 1).map((name) => [name, 'approved'])));
  return { id, phone };
};

export const longestReceived = (from: string, to: string) => ({
  from,
  to,
  type: 'text' as const,
  text: { body: NOISE },
});

/** Pending messages of a user to a business. */
export const receive = async ({ bot }: { bot: string }, phone: string, count: number): Promise<void> => {
  for (let index = 0; index < count; index += 1) await receiveMessage(randomUUID(), longestReceived(phone, bot));
};
