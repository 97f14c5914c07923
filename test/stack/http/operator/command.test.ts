/**
 * `npm run operator`: accounts, tokens, users, arguments and help.
 *
 * @module-tag long
 */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { findUser } from '../../../../infra/operator/queries/users-admin.ts';
import { accountTokenKey } from '../../../../shared/accounts/entities.ts';
import { update } from '../../../../shared/table/client.ts';
import { sendRaw } from '../../support/client.ts';
import { bare, inJson, newAccount, newId, operator, refusal, run, time, withoutTable } from '../../support/operator.ts';
import { newCaller, newPhone } from '../../support/world.ts';

describe('account commands', () => {
  test('account create, list, update and show return the same account', async () => {
    const [id, bot_number, other] = [newId(), newPhone(), newPhone()];
    const opened = await inJson('account', 'create', 'Açme, Ltd', '--id', id, '--bot-number', bot_number);
    expect(opened).toEqual({ id, name: 'Açme, Ltd', bot_number, created: time });
    expect(await inJson('account', 'list')).toContainEqual({ id, name: 'Açme, Ltd', bot_number });

    const changed = await inJson('account', 'update', '--yes', id, '--name', 'Acme', '--bot-number', other);
    expect(changed).toEqual({ ...opened, name: 'Acme', bot_number: other });
    expect(await inJson('account', 'show', id)).toEqual({ ...changed, tokens: [] });
    expect(await inJson('account', 'list')).toContainEqual({ id, name: 'Acme', bot_number: other });
  });

  test('account create without --id derives the id from the name', async () => {
    const word = randomUUID().slice(0, 8);
    expect(await inJson('account', 'create', `Ünder & Söhne ${word}`)).toMatchObject({ id: `under-sohne-${word}` });
  });

  test('account create and account list print columns without --json', async () => {
    const id = newId();
    const { stdout } = await operator('account', 'create', 'Acme', '--id', id);
    expect(stdout).toMatch(new RegExp(`^Account {2}${id}\nName {5}Acme\nCreated {2}[-0-9]{10} [:0-9]{5} UTC\n$`));
    await operator('account', 'update', id, '--rate', '5', '--burst', '20', '--yes');
    await operator('account', 'update', id, '--platform=webhook', '--platform-url=https://acme.example.com', '--yes');
    await operator('account', 'suspend', id, '--yes');
    const account = { id, name: 'Acme', platform: 'webhook', rate: 5, burst: 20, suspended: time };
    expect(await inJson('account', 'list')).toContainEqual(account);
    const { stdout: list } = await operator('account', 'list');
    expect(list).toMatch(/^ID +NAME +PLATFORM +BOT +RATE +SUSPENDED\n|^ID {2}/);
    for (const words of ['PLATFORM', id, 'webhook', '5 a second, 20 at once']) expect(list).toContain(words);
  });

  test.concurrent.each(['', '-a', 'a-', 'A', 'a b', 'a#1', 'a'.repeat(41)])(
    'account create rejects the id "%s"',
    async (id) => {
      expect(await refusal('account', 'create', 'Acme', `--id=${id}`)).toContain(
        `"${id}" cannot be an account's id: use 1 to 40 of a-z, 0-9 and hyphens, not at its ends.`,
      );
    },
  );

  test("account create rejects the app network's id, and the id of another account", async () => {
    const create = (id: string) => refusal('account', 'create', 'Acme', '--id', id);
    expect(await create('app-network')).toContain('"app-network" is reserved for the app network.');
    const id = await newAccount();
    expect(await create(id)).toContain(`The account "${id}" already exists.`);
  });

  test("another account's number is rejected, until that account has a new number", async () => {
    const [one, other, number] = [newId(), newId(), newPhone()];
    await inJson('account', 'create', 'One', '--id', one, '--bot-number', number);
    const taken = `The number ${number} belongs to the bot of the account "${one}".`;
    expect(await refusal('account', 'create', 'Other', '--id', other, '--bot-number', number)).toContain(taken);
    await inJson('account', 'create', 'Other', '--id', other);
    expect(await refusal('account', 'update', '--yes', other, '--bot-number', number)).toContain(taken);

    await inJson('account', 'update', '--yes', one, '--bot-number', newPhone());
    const taking = await inJson('account', 'update', '--yes', other, '--bot-number', number);
    expect(taking.bot_number).toBe(number);
  });

  test('account update --no-bot-number frees the number for another account', async () => {
    const [id, other, bot_number] = [newId(), newId(), newPhone()];
    const opened = await inJson('account', 'create', 'Acme', '--id', id, '--bot-number', bot_number);
    const { bot_number: _, ...without } = opened;
    expect(await inJson('account', 'update', '--yes', id, '--no-bot-number')).toEqual(without);
    const taking = await inJson('account', 'create', 'Other', '--id', other, '--bot-number', bot_number);
    expect(taking.bot_number).toBe(bot_number);
  });

  test('account update sets the limit of an account, shows it, and removes it; a burst is at least the rate', async () => {
    const id = await newAccount();
    const update = ['account', 'update', '--yes', id];
    expect(await inJson(...update, '--rate', '250')).toMatchObject({ rate: 250 });
    expect((await operator('account', 'show', id)).stdout).toContain('250 requests a second, 500 at once');
    expect(await refusal(...update, '--burst', '249')).toContain('must be at least the rate');
    expect(await inJson(...update, '--burst', '1000')).toMatchObject({ rate: 250, burst: 1_000 });
    const { code, stderr } = await operator(...update, '--rate', '1.5');
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('must be a whole number') });
    const { rate, burst } = await inJson(...update, '--no-rate');
    expect([rate, burst]).toEqual([undefined, undefined]);
    expect(await refusal(...update, '--burst', '9')).toContain('A burst needs a rate');
  });

  test('account update sets the sending hours of an account, shows them, and removes them', async () => {
    const id = await newAccount();
    const update = ['account', 'update', '--yes', id];
    const between = ['08:00', '20:00'];
    expect(await inJson(...update, '--sending-hours', '08:00-20:00 Africa/Johannesburg')).toMatchObject({
      sending_hours: { between, time_zone: 'Africa/Johannesburg' },
    });
    expect((await operator('account', 'show', id)).stdout).toContain('08:00 to 20:00, Africa/Johannesburg');
    expect(await inJson(...update, '--sending-hours', '22:00-06:00 recipient')).toMatchObject({
      sending_hours: { between: ['22:00', '06:00'], time_zone: 'recipient' },
    });
    expect((await operator('account', 'show', id)).stdout).toContain('22:00 to 06:00, in the zone of the user');
    const invalid: [hours: string, reason: string][] = [
      ['08:00-20:00', 'must be like "08:00-20:00 Africa/Johannesburg"'],
      ['8-20 UTC', 'must be a time of the day'],
      ['08:00-08:00 UTC', 'must be two different times'],
      ['08:00-20:00 Mars/Olympus', 'must be the name of an IANA time zone'],
    ];
    for (const [hours, reason] of invalid) {
      const { code, stderr } = await operator(...update, '--sending-hours', hours);
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(reason) });
    }
    expect((await inJson(...update, '--no-sending-hours')).sending_hours).toBeUndefined();
  });

  const unknown = [
    ...['account show', 'account update --yes --name Acme', 'account stats', 'token issue --permissions stats'],
    ...['platform check', 'token list', 'job list', 'job recount', 'media list', 'deliveries list'],
    'outbox list --account',
    ...['outbox retry --account', 'message list 27820000001 --account', `message show ${randomUUID()} --account`],
  ];
  test.each(unknown)('%s fails for an unknown account, with a message that contains its id', async (command) => {
    expect(await refusal(...command.split(' '), 'nobody')).toContain('There is no account "nobody"');
  });
});

describe('token commands', () => {
  test('a new token works at once', async () => {
    const { token } = await inJson('token', 'issue', await newAccount(), '--permissions', 'profilers,stats');
    expect((await sendRaw('listProfilers', { token })).status).toBe(200);
  });

  test('token issue prints only the token on stdout, and no other command prints the token', async () => {
    const account = await newAccount();
    const issued = await operator('token', 'issue', account, '--permissions', 'stats', '--label', 'Reporting');
    const token = issued.stdout.trimEnd();
    expect(issued).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^bapi_[0-9a-f]{72}\n$/),
      stderr: expect.stringContaining('it will not be shown again'),
    });
    expect(issued.stderr).not.toContain(token);

    const [record] = await inJson('token', 'list', account);
    const shown = await Promise.all([
      operator('token', 'list', account),
      operator('account', 'show', account),
      operator('token', 'list', account, '--json'),
      operator('account', 'show', account, '--json'),
      operator('token', 'revoke', '--yes', account, record.id, '--json'),
    ]);
    for (const { code, stdout, stderr } of shown) {
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toContain(record.id);
      expect(stdout).not.toMatch(new RegExp(`bapi_|sha256|${token.slice(5, 20)}`));
    }
    expect(shown[0].stdout).toMatch(new RegExp(`^${record.id}  …${token.slice(-4)} +Reporting +stats `, 'm'));
  });

  test('the record of a token contains its label, permissions, last four characters and time of revocation', async () => {
    const account = await newAccount();
    const { token, ...record } = await inJson('token', 'issue', account, '--permissions', 'stats', '--label', 'A');
    const last_four = token.slice(-4);
    expect(record).toEqual({ id: expect.any(String), label: 'A', permissions: ['stats'], last_four, created: time });
    expect(await inJson('token', 'list', account)).toEqual([record]);
    const revoked = await inJson('token', 'revoke', '--yes', account, record.id);
    expect(revoked).toEqual({ ...record, revoked: time });
    expect(await inJson('token', 'revoke', '--yes', account, record.id)).toEqual(revoked);
    expect(await inJson('token', 'list', account)).toEqual([revoked]);

    const again = await operator('token', 'revoke', '--yes', account, record.id);
    expect(again.stdout).toContain('stops working within 60 s');
  });

  test("token revoke rejects another account's token", async () => {
    const [caller, other] = [await newCaller('profilers'), await newAccount()];
    expect(await refusal('token', 'revoke', '--yes', other, caller.tokenId)).toContain('has no token with the id');
    expect((await sendRaw('listProfilers', { token: caller.token })).status).toBe(200);
  });

  const expiries: [given: string, kept: () => string][] = [
    ['2099-01-31', () => '2099-01-31T00:00:00.000Z'],
    ['2099-01-31T12:30:00Z', () => '2099-01-31T12:30:00.000Z'],
    ['2099-01-31T12:30:00+02:00', () => '2099-01-31T10:30:00.000Z'],
    ['90d', () => new Date(Date.now() + 90 * 86_400_000).toISOString()],
  ];
  test.each(expiries)('token issue accepts the expiry %s', async (given, kept) => {
    const issue = ['token', 'issue', await newAccount(), '--permissions', 'stats'];
    const { expires } = await inJson(...issue, '--expires', given);
    expect(Math.abs(Date.parse(expires) - Date.parse(kept()))).toBeLessThan(60_000);
  });

  test('token list marks an expired token', async () => {
    const { account, tokenId } = await newCaller('stats');
    await update({
      Key: accountTokenKey(account, tokenId),
      UpdateExpression: 'SET expires = :past',
      ExpressionAttributeValues: { ':past': '2020-01-31T00:00:00.000Z' },
    });
    expect((await operator('token', 'list', account)).stdout).toContain('expired 2020-01-31');
  });

  test.each(['2020-01-31', '0d', '2020-01-31T12:00:00Z'])(
    'token issue rejects the expiry %s in the past',
    async (expires) => {
      const account = await newAccount();
      const line = await refusal('token', 'issue', account, '--permissions', 'stats', '--expires', expires);
      expect(line).toContain('in the past');
      expect(await inJson('token', 'list', account)).toEqual([]);
    },
  );

  test('only a token of the app network has the permission "app", and it has no other permission', async () => {
    const account = await newAccount();
    const rule = 'Tokens of the account "app-network" have only the permission "app"';
    expect(await refusal('token', 'issue', account, '--permissions', 'app')).toContain(rule);
    expect(await refusal('token', 'issue', 'app-network', '--permissions', 'stats')).toContain(rule);
    expect(await refusal('token', 'issue', 'app-network', '--permissions', 'app,stats')).toContain(rule);
    const { permissions } = await inJson('token', 'issue', 'app-network', '--permissions', 'app');
    expect(permissions).toEqual(['app']);
  });
});

test('user set registers a user, and changes the panelist flag only if an option sets it', async () => {
  const phone_number = newPhone();
  const set = (...options: string[]) => inJson('user', 'set', phone_number, ...options);
  expect(await set()).toEqual({ phone_number, panelist: false, changed: true });
  expect(await set('--panelist')).toEqual({ phone_number, panelist: true, changed: true });
  expect(await set('--panelist')).toEqual({ phone_number, panelist: true, changed: false });
  expect(await set()).toEqual({ phone_number, panelist: true, changed: false });
  expect(await set('--no-panelist')).toEqual({ phone_number, panelist: false, changed: true });
  expect(await findUser(phone_number)).toEqual({ phone_number, panelist: false });
});

describe('an invalid command', () => {
  const commands: [command: string, hint: RegExp][] = [
    ['acount list', /unknown command 'acount'\n\(Did you mean account\?\)/],
    ['account lst', /unknown command 'lst'\n\(Did you mean list\?\)/],
    ['account list --jsn', /unknown option '--jsn'\n\(Did you mean --json\?\)/],
    ['account', /Usage: npm run operator -- account/],
    ['account create', /missing required argument 'name'/],
    ['account show a b', /too many arguments/],
    ['account update demo', /nothing to change/],
    ['account update demo --platform smoke', /Allowed choices are \w+(, \w+)+\./],
    ['account update demo --no-platform --platform-url https://a.example', /--no-platform takes no settings/],
    ['account create A --bot-number +27820000001', /7 to 15 digits/],
    ['account stats demo --days 0', /must be a whole number from 1 to 366/],
    ['account stats demo --days 367', /must be a whole number from 1 to 366/],
    ['account stats demo --days 3 --from 2027-01-01', /cannot be used with option '--from <day>'/],
    ['account stats demo --from 2027-02-31', /must be a day that exists/],
    ['account stats demo --from 2027-01-02 --to 2027-01-01', /the first day is after the last one/],
    ['account stats demo --from 2026-01-01 --to 2027-01-02', /the period has 367 days: at most 366/],
    ['account stats demo --job 1', /must be a UUID/],
    ['deliveries list demo --since yesterday', /It must be a time/],
    ['deliveries replay demo', /choose what to send again/],
    ['deliveries replay demo 1 --since 2027-01-01', /choose what to send again/],
    ['deliveries replay demo 1 --until 2027-01-01', /--until needs --since/],
    ['restore', /required option '--from <table>' not specified/],
    ['restore --from x --since yesterday', /must be a time as RFC 3339 writes it/],
    ['restore --from x --clean --account acme', /cannot be used with option/],
    ['token issue demo', /required option '--permissions <list>'/],
    ['token issue demo --permissions stats,', /must be a list of profilers, stats/],
    ['token issue demo --permissions all', /must be a list of profilers, stats/],
    ['token issue demo --permissions stats --expires 2027-02-31', /must be like 90d/],
    ['token issue demo --permissions stats --expires soon', /must be like 90d/],
    ['token issue demo --permissions stats --expires 2027-01-31T12:00', /must be like 90d/],
    ['user set 123456', /7 to 15 digits/],
    ['user set 27820000001 --panelists', /Did you mean --panelist\?/],
    ['panelist import', /missing required argument/],
    ['outbox list --direction up', /Allowed choices are app, platform/],
    ['outbox list --phone 123456', /7 to 15 digits/],
    ['outbox retry', /choose what to retry: --account, --direction, --phone, or --all/],
    ['outbox retry --all --account demo', /--all and other filters exclude each other/],
    ['message show', /missing required argument 'id'/],
    ['message show 1', /must be a UUID/],
    ['message list 123456', /7 to 15 digits/],
    ['message list 27820000001 --limit 0', /must be a whole number from 1/],
    ['user show 123456', /7 to 15 digits/],
    ['job recount', /missing required argument 'account'/],
    ['job recount demo --from 2027-02-31', /must be a day that exists/],
    ['job recount demo --from 2027-01-02 --to 2027-01-01', /the first day is after the last one/],
    ['job recount demo --retention 0', /must be a whole number from 30/],
  ];

  test.concurrent.each(commands)('"%s" exits with 2 and a hint', async (command, hint) => {
    const { code, stdout, stderr } = await operator(...command.split(' '));
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(hint) });
    expect(stderr).toMatch(/--help/);
  });

  test('account create with a blank name exits with 2', async () => {
    const { code, stderr } = await operator('account', 'create', '  ');
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('must not be empty') });
  });
});

const isHelp = { code: 0, stdout: expect.stringMatching(/^Usage: npm run operator -- [\s\S]*--json/), stderr: '' };

/** All subcommands of a command, recursively, from the help texts. */
const commandsBelow = async (command: string[]): Promise<string[][]> => {
  const { stdout } = await withoutTable(...command, '--help');
  const [, listed = ''] = stdout.split('Commands:\n');
  const names = [...listed.matchAll(/^ {2}([a-z-]+)\b/gm)].map(([, name = '']) => name);
  const below = names.filter((name) => name !== 'help' && name !== 'npm').map((name) => [...command, name]);
  return [...below, ...(await Promise.all(below.map(commandsBelow))).flat()];
};

test('the help of every command works without a table, and contains an example of the command', async () => {
  const commands = (await commandsBelow([])).map((command) => command.join(' '));
  expect(commands).toEqual(
    expect.arrayContaining(['account stats', 'user show', 'message list', 'token revoke', 'job recount']),
  );
  for (const command of commands) {
    const ended = await withoutTable(...command.split(' '), '--help');
    expect(ended).toEqual(isHelp);
    expect(ended.stdout).toMatch(new RegExp(`Examples:\n  npm run operator -- ${command}\\b`));
  }
});

test('the general help works without a table, AWS credentials and a stack', async () => {
  expect(await run(['--help'], bare)).toEqual(isHelp);
});

const guide = await readFile('infra/docs/operator.md', 'utf8');

const inGuide = [...guide.matchAll(/^npm run operator -- (.+)$/gm)].map(([, command = '']) => command);

test.each(inGuide)('the command "%s" of the guide is valid', async (command) => {
  // This test names a table instead of a stack.
  const args = [...command.replace(/ --stack \S+/, '').matchAll(/"([^"]*)"|(\S+)/g)].map(
    ([, quoted, plain]) => quoted ?? plain?.replace('MESSAGE', randomUUID()) ?? '',
  );
  // A valid command exits with 1, because the table does not exist. An invalid command exits with 2.
  expect(await withoutTable(...args)).toMatchObject({ code: 1, stdout: '' });
});
