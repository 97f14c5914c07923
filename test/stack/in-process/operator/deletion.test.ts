/**
 * `operator account delete`: everything of the account goes, and nothing else.
 *
 * @module-tag long
 */
import { afterEach, beforeEach, expect, inject, test, vi } from 'vitest';
import { updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { issuePortalCode } from '../../../../infra/operator/queries/portal-codes.ts';
import { issueToken } from '../../../../infra/operator/queries/tokens-admin.ts';
import { deleteAccount } from '../../../../infra/operator/recovery/account-deletion.ts';
import { kindsOf } from '../../../../infra/operator/recovery/item-kinds.ts';
import { judge } from '../../../../infra/operator/recovery/judge.ts';
import { accountOfBot, findAccount } from '../../../../shared/accounts/accounts.ts';
import { accountKey, numberKey, tokenKey } from '../../../../shared/accounts/entities.ts';
import { sendToMany } from '../../../../shared/campaigns/accept.ts';
import { timestampOf } from '../../../../shared/core/clock.ts';
import { newId } from '../../../../shared/core/ids.ts';
import { recordFailure } from '../../../../shared/delivery/circuit-breaker.ts';
import { getObject } from '../../../../shared/media/object-store.ts';
import { upload } from '../../../../shared/media/uploads.ts';
import { receiveMessage } from '../../../../shared/messaging/receive.ts';
import { sendMessage } from '../../../../shared/messaging/send.ts';
import { countAnswers } from '../../../../shared/profilers/results.ts';
import { jobCountersOf } from '../../../../shared/stats/entities.ts';
import { countEntries } from '../../../../shared/stats/job-counters.ts';
import { documents, getConsistent } from '../../../../shared/table/client.ts';
import type { AnyItem } from '../../../../shared/table/entity.ts';
import { updateUser } from '../../../../shared/users/users.ts';
import { captureLog } from '../../../support/captured-log.ts';
import { useFakeQueue } from '../../../unit/support/fake-queue.ts';
import { fileOf, png } from '../../support/files.ts';
import { newAccount, operatorIn, remote } from '../../support/operator.ts';
import { useOwnTable, useServedBucket } from '../../support/own-table.ts';
import { itemsIn } from '../../support/whole-table.ts';
import { newPhones } from '../../support/world.ts';
import { addUserData, answersInTable, entriesOfLog, newBusiness, newUser, textTo } from '../failing-calls/world.ts';

const { s3_endpoint } = inject('stack');

useOwnTable('operator-deletion');
useFakeQueue();
// The queue has other credentials.
useServedBucket();
captureLog();

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));

afterEach(() => void vi.useRealTimers());

const command = async (...args: string[]) => {
  const { code, stdout, stderr } = await operatorIn(
    { ...remote, TABLE_NAME: process.env.TABLE_NAME, AWS_ENDPOINT_URL_S3: s3_endpoint },
    'account',
    ...args,
  );
  return { code, stdout, stderr };
};

const SETTINGS = { url: 'https://example.com/', secret: `whsec_${'A'.repeat(43)}=` };

/** A business with data of every kind. */
const wholeBusiness = async () => {
  const { account, bot } = await newBusiness({ name: 'webhook', settings: SETTINGS });
  await updateAccount(account, { consent_webhook: { settings: SETTINGS } });
  const phone = await newUser();
  await updateUser(newId(), { phone_number: phone, panelist: true });
  await addUserData(account, phone);
  await receiveMessage(newId(), { from: phone, ...textTo(bot) });
  const job_id = newId();
  await sendToMany(account, { to: newPhones(3), type: 'text', text: { body: 'Hello' } }, { job_id, priority: 'low' });
  const { token } = await issueToken(account, { label: '', permissions: ['stats'] });
  await issuePortalCode({ account, label: 'portal', permissions: ['stats'] });
  const { url } = await upload(account, 'image', fileOf(png));
  await recordFailure(`platform#${account}`, 'closed');
  return { account, bot, phone, token, media: url.split('/').at(-1) ?? '' };
};

/** The items that are about an account: that name it, or one of its profilers. */
const itemsAbout = (items: AnyItem[], account: string): AnyItem[] => {
  const named = items.filter((item) => JSON.stringify(item).includes(account));
  const profilers = named.flatMap(({ sk }) => (sk.startsWith('PROFILER#') ? [sk.slice('PROFILER#'.length)] : []));
  const uploads = named.flatMap(({ upload: id }) => (typeof id === 'string' ? [id] : []));
  const isPart = ({ pk }: AnyItem) => [...profilers, ...uploads].some((id) => pk.endsWith(`#${id}`));
  return items.filter((item) => named.includes(item) || isPart(item));
};

const kindsIn = (items: AnyItem[]): string[] =>
  [...new Set(items.map((item) => kindsOf(item)[0]?.name ?? 'unknown'))].sort();

test('account delete removes every item of the account but receipts of consent, its media, and nothing else', {
  timeout: 300_000,
}, async () => {
  const [own, other] = [await wholeBusiness(), await wholeBusiness()];
  await countEntries(await entriesOfLog());
  await countAnswers(await answersInTable());
  const before = await itemsIn();
  expect(kindsIn(itemsAbout(before, own.account))).toEqual(
    expect.arrayContaining([
      ...['account', 'answer', 'batch of messages', 'bot number', 'chunk of a batch', 'consent', 'consent receipt'],
      'code of the portal',
      ...['consent webhook', 'head of an outbox', 'job', 'job counter', 'media', 'message', 'opt-out', 'outbox entry'],
      ...['platform settings', 'profiler', 'record of a token', 'results of a profiler', 'token', 'user data request'],
    ]),
  );

  const remove = ['delete', own.account, '--yes'];
  expect((await command(...remove)).stderr).toContain(`First run "account suspend ${own.account}"`);
  await command('suspend', own.account, '--yes');
  expect((await command(...remove)).stderr).toMatch(/may still be under way\. Repeat the command in 1\d\d s\./);
  vi.setSystemTime(Date.now() + 181_000);

  // Without a confirmation, nothing changes.
  const suspended = await itemsIn();
  expect(await command('delete', own.account)).toMatchObject({ code: 3, stderr: expect.stringContaining('--yes') });
  expect(await itemsIn()).toEqual(suspended);

  const { code, stdout, stderr } = await command(...remove, '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: 'Backups of the table keep its data for 35 days.\n' });
  expect(JSON.parse(stdout)).toMatchObject({ account: own.account, removed: { account: 1, profiler: 1, answer: 1 } });

  const after = await itemsIn();
  const left = kindsIn(itemsAbout(after, own.account)).filter((kind) => kind !== 'event receipt');
  expect(left).toEqual(['consent receipt']);
  expect(await getConsistent(numberKey(own.bot))).toBeUndefined();
  expect(await getObject(own.media)).toBeUndefined();

  // The other business, and the users, are as before.
  expect(itemsAbout(after, other.account)).toEqual(itemsAbout(suspended, other.account));
  expect(await getObject(other.media)).toBeDefined();
  const usersIn = (items: AnyItem[]) => items.filter(({ pk }) => /^(USER|CONTACT)#/.test(pk));
  expect(usersIn(after)).toEqual(usersIn(suspended));

  // Neither a new account with the id nor a restore brings anything back.
  expect((await command('create', 'Again', '--id', own.account)).stderr).toContain('was deleted in the last 36 days');
  const lost = itemsAbout(before, own.account).filter((item) => kindsOf(item)[0]?.name !== 'consent receipt');
  const selection = { profilers: new Set<string>(), tokens: true, outbox: true };
  const verdicts = await judge(process.env.TABLE_NAME ?? '', lost, selection);
  const back = verdicts.flatMap((verdict) => ('candidate' in verdict ? [verdict.candidate.kind.name] : []));
  expect(back.filter((kind) => kind !== 'event receipt')).toEqual([]);
});

test('a number that the account gets while it is deleted is not lost: a repeat completes the deletion', async () => {
  const { account, bot } = await newBusiness({ name: 'webhook', settings: SETTINGS });
  await updateAccount(account, { suspended: timestampOf(Date.now() - 200_000) });
  await upload(account, 'image', fileOf(png));
  const deleteBytes = async () => void (await updateAccount(account, { bot_number: bot }));
  const onProgress = () => undefined;
  await expect(deleteAccount(account, { deleteBytes, onProgress })).rejects.toThrow('Repeat the command.');
  expect(await findAccount(account)).toMatchObject({ bot_number: bot });
  await deleteAccount(account, { deleteBytes, onProgress });
  expect(await findAccount(account)).toBeUndefined();
  expect(await accountOfBot(bot)).toBeUndefined();
});

test('an interrupted deletion is completed by a repeat', async () => {
  const { account, token } = await wholeBusiness();
  await updateAccount(account, { suspended: timestampOf(Date.now() - 200_000) });
  const deleteBytes = async () => undefined;
  const failing = deleteAccount(account, {
    deleteBytes,
    onProgress: () => {
      throw new Error('killed');
    },
  });
  await expect(failing).rejects.toThrow('killed');
  expect(await getConsistent(accountKey(account))).toBeDefined();
  expect(await getConsistent(tokenKey(token))).toBeUndefined();
  expect(await command('delete', account, '--yes')).toMatchObject({ code: 0 });
  const left = kindsIn(itemsAbout(await itemsIn(), account)).filter((kind) => kind !== 'event receipt');
  expect(left).toEqual(['consent receipt']);
});

test('the app network cannot be deleted, and an unknown account neither', async () => {
  expect((await command('delete', 'app-network')).stderr).toContain('The app network cannot be deleted');
  expect((await command('delete', 'nobody')).stderr).toContain('There is no account "nobody"');
  const account = await newAccount();
  expect(await command('delete', account, '--yes')).toMatchObject({ code: 1 });
});

test('a worker that has claimed log entries adds to no counter after their account was deleted', async () => {
  const { account, phone } = await newBusiness();
  for (let left = 4; left > 0; left -= 1) await sendMessage(account, textTo(phone), {});
  const entries = (await entriesOfLog()).filter((entry) => entry.account === account);
  const [isClaimed, isDeleted] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const send = documents.send.bind(documents);
  const spy = vi.spyOn(documents, 'send').mockImplementation((async (command: { input: object }) => {
    if (JSON.stringify(command.input).includes('sealed')) {
      isClaimed.resolve();
      await isDeleted.promise;
    }
    return send(command as never);
  }) as never);
  const counting = countEntries(entries);
  await isClaimed.promise;
  await deleteAccount(account, { deleteBytes: async () => undefined, onProgress: () => undefined });
  isDeleted.resolve();
  expect(await counting).toBe(0);
  spy.mockRestore();
  expect((await itemsIn()).filter(({ pk }) => pk === jobCountersOf(account))).toEqual([]);
});
