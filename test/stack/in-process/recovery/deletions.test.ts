/**
 * What was deleted, erased or revoked does not come back, and what was delivered is not delivered again.
 *
 * @module-tag long
 */
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import { createAccount, updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { deleteMedia, forgetAvatar } from '../../../../infra/operator/queries/media-admin.ts';
import { issueToken, revokeToken } from '../../../../infra/operator/queries/tokens-admin.ts';
import { accountKey, hookKey, numberKey, platformKey } from '../../../../shared/accounts/entities.ts';
import { changeProfile } from '../../../../shared/accounts/profile.ts';
import { DELETION_MEMORY_DAYS } from '../../../../shared/core/lifetimes.ts';
import { deliver } from '../../../../shared/delivery/deliver.ts';
import { mediaKey } from '../../../../shared/media/entities.ts';
import { sendMessage } from '../../../../shared/messaging/send.ts';
import { conversationName, entryKey, messageKey } from '../../../../shared/outbox/entities.ts';
import { recordAnswer, removeAnswers } from '../../../../shared/profilers/answers.ts';
import { answersOf, profilerKey } from '../../../../shared/profilers/entities.ts';
import { createProfiler, deleteProfiler } from '../../../../shared/profilers/profilers.ts';
import { isSealed, newClaim, sealWrite } from '../../../../shared/stats/claims.ts';
import { documents, update } from '../../../../shared/table/client.ts';
import type { AnyItem } from '../../../../shared/table/entity.ts';
import type { Key } from '../../../../shared/table/keys.ts';
import { transact } from '../../../../shared/table/transactions.ts';
import { eraseUser, removeUser, resumeErasure } from '../../../../shared/user-data/erasure.ts';
import { appUserKey, contactHash, contactKey, userKey } from '../../../../shared/users/entities.ts';
import { updateUser } from '../../../../shared/users/users.ts';
import { captureLog } from '../../../support/captured-log.ts';
import { useAppNetworkServer } from '../../support/app-network-server.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { itemsIn } from '../../support/whole-table.ts';
import { newAccountId, newMedia, newPhone } from '../../support/world.ts';
import { addUserData, newSecret, textTo } from '../failing-calls/world.ts';
import { lose, restore, restoreInJson, restoreToNewTable } from './copied-table.ts';

const { dynamodb_endpoint: endpoint } = inject('stack');

useOwnTable('deletions');
const destination = useAppNetworkServer();
captureLog();

beforeEach(() => void vi.useFakeTimers({ now: Date.now(), toFake: ['Date'] }));
afterEach(async () => {
  vi.useRealTimers();
  // Copies stay small.
  await lose(await itemsIn());
});

const later = (milliseconds: number): void => void vi.setSystemTime(Date.now() + milliseconds);
const DAY = 86_400_000;

/** Restores what is missing from a table, with everything that an operator can ask for. */
const restoreAll = (from: string, ...options: string[]) =>
  restoreInJson('--from', from, '--tokens', '--outbox', ...options);

const nameOf = ({ pk, sk }: AnyItem): string => `${pk} ${sk}`;
const liveItems = async () => new Map((await itemsIn()).map((item) => [nameOf(item), item]));
/** Whether the table has an item of any of these partitions. */
const hasAny = async (...keys: { pk: string }[]): Promise<boolean> =>
  (await itemsIn()).some((item) => keys.some(({ pk }) => pk === item.pk));

const newAccount = async () => {
  const bot = newPhone();
  const { id: account } = await createAccount({ name: 'Test', id: newAccountId(), bot_number: bot });
  return { account, bot };
};

/** The phone number of a new panelist with a name. */
const newUser = async (): Promise<string> => {
  const phone = newPhone();
  const properties = { first_name: { value: 'Ben', source: 'self' } };
  await updateUser(randomUUID(), { phone_number: phone, panelist: true, properties });
  return phone;
};

const webhook = () => ({
  name: 'webhook' as const,
  settings: { url: 'https://example.com/messages', secret: newSecret() },
});

/** Each prepares items, and returns what deletes them. */
const deletions: Record<string, () => Promise<() => Promise<unknown>>> = {
  'a user who was erased': async () => {
    const { account } = await newAccount();
    const phone = await newUser();
    await addUserData(account, phone);
    return () => eraseUser(phone);
  },
  'a token that was revoked': async () => {
    const { account } = await newAccount();
    const { record } = await issueToken(account, { label: 'test', permissions: ['stats'] });
    return () => revokeToken(account, record.id);
  },
  'a profiler that was deleted, with its answers, although its tombstone has expired': async () => {
    const { account } = await newAccount();
    const phone = await newUser();
    const { id, options } = await createProfiler(account, { question: 'Well?', options: ['yes', 'no'] }, 'key');
    await recordAnswer(account, { profiler_id: id, option_id: options[0]?.id ?? '', phone_number: phone });
    return async () => {
      await deleteProfiler(account, id);
      await removeAnswers(profilerKey(account, id));
      const rows = (await itemsIn()).filter(({ pk }) => pk === profilerKey(account, id).pk);
      await lose(rows);
    };
  },
  'a number that was released': async () => {
    const { account } = await newAccount();
    return () => updateAccount(account, { bot_number: null });
  },
  'the settings of a platform that was removed': async () => {
    const { account } = await newAccount();
    await updateAccount(account, { platform: webhook() });
    return () => updateAccount(account, { platform: null });
  },
  'settings that were replaced, although the new ones are lost': async () => {
    const { account } = await newAccount();
    await updateAccount(account, { platform: { ...webhook(), hook: { secret: 'leaked' } } });
    return async () => {
      await updateAccount(account, { platform: webhook() });
      await lose([platformKey(account), hookKey(account)]);
    };
  },
  'media that were deleted': async () => {
    const { account } = await newAccount();
    const id = await newMedia(account);
    return () => deleteMedia(id, async () => undefined);
  },
  'an outbox entry that was delivered': async () => {
    const { account } = await newAccount();
    const phone = newPhone();
    await sendMessage(account, textTo(phone), {});
    return () => deliver({ direction: 'app', account, phone }, () => 60_000);
  },
};

describe.each(Object.entries(deletions))('a restore right after the deletion of %s', (_what, prepare) => {
  test('changes nothing', async () => {
    const remove = await prepare();
    const before = await itemsIn();
    const restored = await restoreToNewTable(endpoint);
    later(1_000);
    await remove();
    const live = await liveItems();
    const kept = new Set((await itemsIn()).map(nameOf));
    expect(before.filter((item) => !kept.has(nameOf(item)))).not.toEqual([]);
    const { totals } = await restoreAll(restored);
    expect(await liveItems()).toEqual(live);
    expect(totals.restored).toBeUndefined();
  });
});

test('without a deletion, the same items come back', async () => {
  const { account, bot } = await newAccount();
  const phone = await newUser();
  await addUserData(account, phone);
  const media = await newMedia(account);
  await updateAccount(account, { platform: webhook() });
  const { record } = await issueToken(account, { label: 'test', permissions: ['stats'] });
  const before = await itemsIn();
  const restored = await restoreToNewTable(endpoint);
  await lose(before);
  const { totals } = await restoreAll(restored);
  expect(totals.restored).toBeGreaterThan(10);
  const after = new Set((await itemsIn()).map(nameOf));
  expect(
    before.filter((item) => !after.has(nameOf(item))).filter(({ pk }) => !/^(CIRCUIT|MIN_INTERVAL)#/.test(pk)),
  ).toEqual([]);
  const parts = [account, bot, phone, media, record.id];
  for (const part of parts) expect([...after].some((name) => name.includes(part))).toBe(true);
});

/** Gives an account an avatar. Returns the id of its media. */
const withAvatar = async (account: string): Promise<string> => {
  const id = await newMedia(account);
  await changeProfile(
    account,
    () => ({ avatar: { id, type: 'image/png', sha256: '' } }),
    () => [],
  );
  return id;
};

test('a lost account comes back without the number, the platform and the avatar that it had lost before', async () => {
  const { account, bot } = await newAccount();
  await updateAccount(account, { platform: webhook() });
  const other = await newAccount();
  await updateAccount(other.account, { platform: webhook() });
  const avatars = [await withAvatar(account), await withAvatar(other.account)];
  const restored = await restoreToNewTable(endpoint);
  await updateAccount(account, { bot_number: null, platform: null });
  await forgetAvatar(account, avatars[0] ?? '');
  await deleteMedia(avatars[0] ?? '', async () => undefined);
  await lose([accountKey(account), accountKey(other.account), numberKey(other.bot), platformKey(other.account)]);
  await restoreAll(restored);
  const items = await itemsIn();
  const find = (key: { pk: string; sk: string }) => items.find(({ pk, sk }) => pk === key.pk && sk === key.sk);
  for (const lost of ['bot_number', 'platform', 'avatar']) expect(find(accountKey(account))).not.toHaveProperty(lost);
  expect(find(numberKey(bot))).toBeUndefined();
  // The other account lost nothing but its items.
  expect(find(accountKey(other.account))).toMatchObject({
    bot_number: other.bot,
    platform: 'webhook',
    avatar: { id: avatars[1] },
  });
  expect(find(numberKey(other.bot))).toMatchObject({ account: other.account });
  expect(find(platformKey(other.account))).toBeDefined();
});

test('a number that its account has claimed again comes back', async () => {
  const { account, bot } = await newAccount();
  await updateAccount(account, { bot_number: null });
  later(1_000);
  await updateAccount(account, { bot_number: bot });
  const restored = await restoreToNewTable(endpoint);
  await lose([numberKey(bot)]);
  await restoreAll(restored);
  expect(await hasAny(numberKey(bot))).toBe(true);
});

test('the next owner of an erased number comes back', async () => {
  const phone = await newUser();
  await eraseUser(phone);
  later(180_000);
  await resumeErasure(phone);
  await updateUser(randomUUID(), { phone_number: phone, panelist: true });
  const restored = await restoreToNewTable(endpoint);
  await lose([userKey(phone)]);
  await restoreAll(restored);
  expect(await hasAny(userKey(phone))).toBe(true);
});

test('a removed user comes back neither by the number nor by the id; a present one comes back with both', async () => {
  const [removed, present] = [newPhone(), newPhone()];
  const ids = [randomUUID(), randomUUID()];
  await updateUser(randomUUID(), { phone_number: removed, id: ids[0] });
  await updateUser(randomUUID(), { phone_number: present, id: ids[1] });
  const restored = await restoreToNewTable(endpoint);
  await removeUser(randomUUID(), removed);
  const theirs = (phone: string, id = '') => [userKey(phone), contactKey(contactHash(phone)), appUserKey(id)];
  await lose(theirs(present, ids[1]));
  await restoreAll(restored);
  const keys = new Set((await itemsIn()).map(({ pk }) => pk));
  expect(theirs(removed, ids[0]).filter(({ pk }) => keys.has(pk))).toEqual([]);
  expect(theirs(present, ids[1]).filter(({ pk }) => !keys.has(pk))).toEqual([]);
});

test('a deletion is known for 36 days, a day longer than AWS restores', async () => {
  expect(DELETION_MEMORY_DAYS).toBe(36);
  const phone = await newUser();
  const { account } = await newAccount();
  const id = await newMedia(account);
  const restored = await restoreToNewTable(endpoint);
  await eraseUser(phone);
  await deleteMedia(id, async () => undefined);
  later(36 * DAY - 60_000);
  await restoreAll(restored);
  expect(await hasAny(userKey(phone), mediaKey(id))).toBe(false);
  later(120_000);
  await restoreAll(restored);
  expect(await hasAny(userKey(phone))).toBe(true);
});

test('the marker of a user who was removed at an earlier time is as new as the removal', async () => {
  const phone = newPhone();
  const at = (hours: number): string => new Date(Date.now() - hours * 3_600_000).toISOString().replace('Z', '000');
  await updateUser(randomUUID(), { phone_number: phone, panelist: true }, { at: at(2) });
  const restored = await restoreToNewTable(endpoint);
  // The item is newer than the time of the removal: its data is not.
  await removeUser(randomUUID(), phone, at(1));
  await restoreAll(restored);
  expect(await hasAny(userKey(phone))).toBe(false);
});

test('an erasure that begins after an item was judged wins', async () => {
  const { account } = await newAccount();
  const phone = await newUser();
  await addUserData(account, phone);
  const restored = await restoreToNewTable(endpoint);
  const answers = (await itemsIn()).filter(({ sk }) => sk === `ANSWER#${phone}`);
  await lose([...answers, userKey(phone)]);
  const send = documents.send.bind(documents);
  let begun = false;
  const spy = vi.spyOn(documents, 'send').mockImplementation(async (command: { input: object }) => {
    if (!begun && 'TransactItems' in command.input) {
      begun = true;
      await eraseUser(phone);
    }
    return send(command as Parameters<typeof send>[0]);
  });
  onTestFinished(() => spy.mockRestore());
  await restoreAll(restored);
  expect(begun).toBe(true);
  expect(JSON.stringify((await itemsIn()).filter(({ pk }) => !pk.startsWith('ERASURE#')))).not.toContain(phone);
});

test('an outbox entry comes back only on request, is delivered with its id, and once', async () => {
  const { account } = await newAccount();
  const phone = newPhone();
  const conversation = { direction: 'app' as const, account, phone };
  await sendMessage(account, textTo(phone), {});
  const restored = await restoreToNewTable(endpoint);
  const pk = entryKey(conversationName(conversation), '').pk;
  const [entry] = (await itemsIn()).filter((item) => item.pk === pk && item.sk !== 'HEAD');
  await lose((await itemsIn()).filter((item) => item.pk === pk));
  await restore('--from', restored, '--account', account);
  expect((await itemsIn()).filter((item) => item.pk === pk)).toEqual([]);

  for (const wanted of [1, 1]) {
    await restoreAll(restored, '--account', account);
    await deliver(conversation, () => 60_000);
    expect(destination().calls).toHaveLength(wanted);
  }
  expect(JSON.stringify(destination().calls[0]?.headers)).toContain(String(entry?.id));
});

test('a log entry comes back as counted, because it may have been counted since', async () => {
  const { account } = await newAccount();
  const id = await sendMessage(account, textTo(newPhone()), {});
  const restored = await restoreToNewTable(endpoint);
  await lose([messageKey(id)]);
  const { stderr } = await restore('--from', restored, '--account', account);
  const [entry] = (await itemsIn()).filter(({ pk }) => pk === messageKey(id).pk);
  expect(entry).toMatchObject({ state: 'sent', counted: true });
  expect(stderr).toContain('1 log entries were not in the job counters yet');
});

test('a restore reports log entries whose claim is void or was never sealed', async () => {
  const { account } = await newAccount();
  const claims = { sealed: newClaim(), void: newClaim(), open: newClaim() };
  const keys: Key[] = [];
  for (const claim of Object.values(claims)) {
    const key = messageKey(await sendMessage(account, textTo(newPhone()), {}));
    keys.push(key);
    const set = { UpdateExpression: 'SET counted = :claim', ExpressionAttributeValues: { ':claim': claim } };
    await update({ Key: key, ...set });
  }
  const expires_at = Math.floor(Date.now() / 1000) + 86_400;
  expect(await transact([sealWrite(claims.sealed, [{ pk: '', sk: '', expires_at }])])).toEqual([]);
  expect(await isSealed(claims.void, { expires_at })).toBe(false);
  const restored = await restoreToNewTable(endpoint);
  await lose(keys);
  const { stderr } = await restore('--from', restored, '--account', account);
  expect(stderr).toContain('2 log entries were not in the job counters yet');
});

test('an answer that a restore puts back while its profiler is removed does not stay', async () => {
  const { account } = await newAccount();
  const phone = await newUser();
  const { id, options } = await createProfiler(account, { question: 'Well?', options: ['yes', 'no'] });
  await recordAnswer(account, { profiler_id: id, option_id: options[0]?.id ?? '', phone_number: phone });
  const restored = await restoreToNewTable(endpoint);
  await deleteProfiler(account, id);
  const send = documents.send.bind(documents);
  const spy = vi.spyOn(documents, 'send').mockImplementation(async (command: { input: object }) => {
    const result = await send(command as Parameters<typeof send>[0]);
    // The page was read: what comes back from now on is not removed with it.
    if (JSON.stringify(command.input).includes(`":pk":"${answersOf(id)}"`)) {
      spy.mockRestore();
      await lose((await itemsIn()).filter(({ pk }) => pk === answersOf(id)));
      await restoreAll(restored);
    }
    return result;
  });
  onTestFinished(() => spy.mockRestore());
  await removeAnswers(profilerKey(account, id));
  expect((await itemsIn()).filter(({ pk }) => pk === answersOf(id))).toEqual([]);
});
