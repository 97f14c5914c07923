/**
 * Operator commands that are killed after each change by a call to AWS, which is before the next one. A repeat of the command
 * completes the work and leaves no orphans. An operator can list and revoke every valid token.
 *
 * @module-tag long
 */
import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { runCommand } from '../../../../infra/operator/program.ts';
import { updateAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { issueToken, listTokens, revokeToken } from '../../../../infra/operator/queries/tokens-admin.ts';
import { hashToken } from '../../../../shared/accounts/tokens.ts';
import { getObject, putObject } from '../../../../shared/media/object-store.ts';
import { upload } from '../../../../shared/media/uploads.ts';
import { receiveMessage } from '../../../../shared/messaging/receive.ts';
import type { AnyItem } from '../../../../shared/table/entity.ts';
import { updateUser } from '../../../../shared/users/users.ts';
import { captureLog } from '../../../support/captured-log.ts';
import { fileOf, png } from '../../support/files.ts';
import { csv } from '../../support/operator.ts';
import { useOwnTable, useServedBucket } from '../../support/own-table.ts';
import { itemsIn } from '../../support/whole-table.ts';
import { newAccount, newAccountId, newPhone } from '../../support/world.ts';
import { canMeet, faults, interrupted, useInterruptions, watched } from '../failing-calls/interrupted.ts';
import { contradictionsIn, likenessSince, restoreTable } from '../failing-calls/table.ts';
import { addUserData, newBusiness, newUser, textTo } from '../failing-calls/world.ts';

const SETTINGS = { url: 'https://example.com/messages', secret: `whsec_${'A'.repeat(43)}=` };

useOwnTable('operator-killed');
useServedBucket();
useInterruptions();
captureLog();

let printed = '';

beforeEach(() => {
  for (const name of ['stdout', 'stderr'] as const) {
    vi.spyOn(process[name], 'write').mockImplementation((text) => {
      printed += text;
      return true;
    });
  }
});

afterEach(() => void vi.restoreAllMocks());

/** Runs a command in this process. Returns its exit code and its output. */
const run = async (args: string[]): Promise<{ code: number | string; printed: string }> => {
  printed = '';
  try {
    await runCommand(args);
    return { code: process.exitCode ?? 0, printed };
  } finally {
    process.exitCode = undefined;
  }
};

/** The items of a table, without values that differ in each run: ids, times, secrets, and versions of accounts. */
const stateOf = (items: AnyItem[], like: (value: object) => string): string =>
  items
    .map(({ version: _version, ...item }) => like(item).replaceAll(/whsec_[^"]+/g, '<secret>'))
    .sort()
    .join('\n');

/** Numbers, tokens and accounts that have only one of their two rows. */
const orphansIn = (items: AnyItem[]): string[] => {
  const accounts = items.filter(({ sk }) => sk === 'ACCOUNT');
  const records = items.filter(({ pk, sk }) => pk.startsWith('ACCOUNT#') && sk.startsWith('TOKEN#'));
  const named = accounts.flatMap(({ id, bot_number }) => (bot_number === undefined ? [] : [`${bot_number} ${id}`]));
  const owned = items
    .filter(({ sk }) => sk === 'NUMBER')
    .map(({ pk, account }) => `${pk.slice('NUMBER#'.length)} ${account}`);
  const working = items.filter(({ sk }) => sk === 'TOKEN').map(({ pk }) => pk.slice('TOKEN#'.length));
  const valid = records.filter(({ revoked }) => revoked === undefined).map(({ sha256 }) => String(sha256));
  const listed = items.filter(({ pk }) => pk === 'ACCOUNTS').map(({ id, name }) => `${id} ${name}`);
  const known = accounts.map(({ id, name }) => `${id} ${name}`);
  return [...differences(named, owned), ...differences(working, valid), ...differences(known, listed)];
};

const differences = (some: string[], others: string[]): string[] => [
  ...new Set(some).symmetricDifference(new Set(others)),
];

interface Scenario {
  /** Prepares the table. Returns the command. */
  prepare: () => Promise<string[]>;
  /** Restores what the command changes outside the table. */
  putBack?: (command: string[]) => Promise<void>;
  /** The error of the repeated command if the killed command had completed its work. */
  isDone?: RegExp;
  /** Set if a repeat does the work again. The table may then contain more items than after one command. */
  isAnew?: true;
  /** Checks effects that the table's state does not show. */
  verify?: (command: string[]) => Promise<void>;
}

const PNG_SHA256 = createHash('sha256').update(png).digest('hex');

const idIn = (url: string): string => url.split('/').at(-1) ?? '';

const update = async (...options: string[]): Promise<string[]> => [
  ...['account', 'update', '--yes', await newAccount()],
  ...options,
];

const scenarios: Record<string, Scenario> = {
  'account create': {
    prepare: async () => ['account', 'create', 'Test', '--id', newAccountId(), '--bot-number', newPhone()],
    isDone: /The account "[^"]+" already exists/,
  },
  'account update (name and number)': { prepare: () => update('--name', 'Other', '--bot-number', newPhone()) },
  'account update (to a webhook with a new secret)': {
    prepare: () => update('--platform', 'webhook', '--platform-url', SETTINGS.url),
  },
  'account update (to no platform and no number)': {
    prepare: async () => {
      const account = await newAccount();
      await updateAccount(account, { platform: { name: 'webhook', settings: SETTINGS } });
      return ['account', 'update', '--yes', account, '--no-platform', '--no-bot-number'];
    },
  },
  'token issue': {
    prepare: async () => ['token', 'issue', await newAccount(), '--permissions', 'stats'],
    isAnew: true,
    verify: async ([, , account = '']) => {
      const tokens = await listTokens(account);
      const hash = hashToken(/^bapi_\w+$/m.exec(printed)?.[0] ?? '');
      expect((await itemsIn()).map(({ pk }) => pk)).toContain(`TOKEN#${hash}`);
      // This includes the token that the killed command did not print.
      for (const { id } of tokens) await revokeToken(account, id);
      expect((await itemsIn()).filter(({ sk }) => sk === 'TOKEN')).toEqual([]);
    },
  },
  'token revoke': {
    prepare: async () => {
      const account = await newAccount();
      const { record } = await issueToken(account, { label: 'test', permissions: ['stats'] });
      return ['token', 'revoke', '--yes', account, record.id];
    },
  },
  'user set': { prepare: async () => ['user', 'set', newPhone(), '--panelist'] },
  'user erase': {
    prepare: async () => {
      const { account, bot } = await newBusiness({ name: 'webhook', settings: SETTINGS });
      const phone = await newUser();
      await updateUser('event-1', { phone_number: phone, panelist: true });
      await addUserData(account, phone);
      await receiveMessage('event-2', { from: phone, ...textTo(bot) });
      return ['user', 'erase', phone, '--yes'];
    },
  },
  'panelist import': {
    prepare: async () => ['panelist', 'import', await csv(newPhone(), newPhone(), newPhone())],
  },
  'media delete': {
    prepare: async () => {
      const account = await newAccount();
      const { url } = await upload(account, 'image', fileOf(png));
      return ['media', 'delete', account, url, '--yes'];
    },
    putBack: async ([, , , url = '']) => putObject(idIn(url), png, PNG_SHA256),
    isDone: /The account has no such media/,
    verify: async ([, , , url = '']) => {
      expect(await getObject(idIn(url))).toBeUndefined();
    },
  },
};

describe.each(Object.entries(scenarios))('a repeat completes "%s"', (_name, scenario) => {
  test('after the process was killed after any change', async () => {
    const fault = faults['is the last one before the process ends'];
    await restoreTable([], await itemsIn());
    const command = await scenario.prepare();
    const before = await itemsIn();
    const like = likenessSince(before);
    const { outcome, calls } = await watched(
      () => run(command),
      async () => undefined,
    );
    expect(outcome, printed).toMatchObject({ result: { code: 0 } });
    const whole = stateOf(await itemsIn(), like);
    const changes = calls.filter((operation) => canMeet(fault, operation));
    expect(changes.length).toBeGreaterThan(0);

    for (const at of changes.keys()) {
      await restoreTable(before, await itemsIn());
      await scenario.putBack?.(command);
      const call = `Change ${at + 1} of ${changes.length}`;
      expect(await interrupted(() => run(command), at + 1, fault), call).toBe('ended');
      const repeated = await run(command);
      if (repeated.code !== 0) expect(repeated.printed, call).toMatch(scenario.isDone ?? /^$/);
      const items = await itemsIn();
      expect([...contradictionsIn(items), ...orphansIn(items)], call).toEqual([]);
      if (!scenario.isAnew) expect(stateOf(items, like), call).toBe(whole);
      await scenario.verify?.(command);
    }
  });
});
