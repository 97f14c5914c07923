/**
 * What commands ask before they remove, stop or replace something, and the deployment that each one names.
 *
 * @module-tag long
 */
import { describe, expect, inject, test } from 'vitest';
import { findAccount } from '../../../../shared/accounts/accounts.ts';
import { servedOutputs, serveStacks } from '../../support/cloudformation.ts';
import {
  failingTable,
  hasTerminal,
  inJson,
  machine,
  newAccount,
  newId,
  onTerminal,
  operator,
  refusal,
  remote,
  run,
  targetOf,
  unconfirmed,
} from '../../support/operator.ts';
import { newPhone } from '../../support/world.ts';

const stack = inject('stack');

describe('without a terminal and without --yes', () => {
  test('token revoke names the token, and leaves it working', async () => {
    const account = await newAccount();
    const { id, token } = await inJson('token', 'issue', account, '--permissions', 'stats', '--label', 'Reporting');
    expect(await unconfirmed('token', 'revoke', account, id)).toContain(
      `Revokes the token …${token.slice(-4)} (Reporting) of "${account}" permanently: stats.`,
    );
    expect((await inJson('token', 'list', account))[0].revoked).toBeUndefined();
    await inJson('token', 'revoke', account, id, '--yes');
    // There is nothing left to confirm.
    expect((await operator('token', 'revoke', account, id)).code).toBe(0);
  });

  test('account update adds what is missing, and asks before it replaces or removes it', async () => {
    const [account, number] = [await newAccount(), newPhone()];
    const update = ['account', 'update', account];
    const url = (name: string) => `https://example.com/${name}`;
    const additions = [
      ['--bot-number', number],
      ['--rate', '10'],
      ['--sending-hours', '08:00-20:00 UTC'],
      ['--platform', 'webhook', '--platform-url', url('messages')],
      ['--consent-webhook', url('consent')],
    ];
    for (const options of additions) expect((await operator(...update, ...options)).code).toBe(0);
    const before = await inJson('account', 'show', account);

    const changes: [options: string[], consequence: string][] = [
      [['--name', 'Other'], 'Changes the name "Of the operator", which users see, to "Other".'],
      [['--bot-number', newPhone()], `Replaces the bot's number ${number} by`],
      [['--no-bot-number'], `Removes the bot's number ${number}`],
      [['--rate', '20'], 'Changes its limit of requests.'],
      [['--burst', '90'], 'Changes its limit of requests.'],
      [['--no-rate'], 'Removes its own limit of requests'],
      [['--sending-hours', '08:00-21:00 UTC'], 'Replaces the sending hours, 08:00 to 20:00, UTC, of later messages.'],
      [['--no-sending-hours'], 'Removes the sending hours, 08:00 to 20:00, UTC: later messages are sent at any time.'],
      [['--platform', 'rapidpro', '--platform-url', url('c')], 'Replaces the platform "webhook" with its settings by'],
      [['--platform-url', url('other')], 'Changes settings of the platform "webhook": url.'],
      [
        ['--no-platform'],
        'Removes the platform "webhook" with its settings. Its pending messages wait three days for another one.',
      ],
      [['--consent-webhook', url('other')], 'Changes the webhook for ends of consent.'],
      [['--no-consent-webhook'], 'Removes the webhook for ends of consent.'],
      [['--no-rate', '--no-platform'], 'applies. Removes the platform "webhook"'],
    ];
    for (const [options, consequence] of changes) {
      expect(await unconfirmed(...update, ...options)).toContain(consequence);
    }
    // The same values again.
    for (const options of additions.slice(0, 3)) {
      expect((await operator(...update, ...options)).code).toBe(0);
    }
    expect(await inJson('account', 'show', account)).toEqual(before);
  });

  test('a mistake is reported before the question', async () => {
    expect(await refusal('account', 'update', newId(), '--no-platform')).toContain('There is no account');
  });

  test('user stop, user start, outbox retry --all, and the removal of the user of a smoke test ask', async () => {
    const [account, phone] = [await newAccount(), newPhone()];
    expect(await unconfirmed('user', 'stop', phone, account)).toContain(`Stops "${account}" for`);
    expect(await inJson('user', 'opt-outs', phone)).toEqual([]);
    expect(await unconfirmed('user', 'start', phone, account)).toContain('Only the user may ask for this.');
    expect(await unconfirmed('outbox', 'retry', '--all')).toContain('of all accounts');
    expect(await unconfirmed('smoke', '--remove', '0123abcd', '--user', phone)).toContain(
      'Removes all data of the user',
    );
  });
});

describe.runIf(hasTerminal)('on a terminal', () => {
  const answers: [name: string, answer: string, code: number][] = [
    ['yes', 'y\n', 0],
    ['no', 'n\n', 3],
    ['nothing', '\n', 3],
    ['the end of the input', '\u0004', 3],
    ['Ctrl-C', '\u0003', 130],
  ];
  test.each(answers)('the answer "%s" ends with the documented exit code', async (_, answer, code) => {
    const account = await newAccount();
    const ended = await onTerminal(['account', 'update', account, '--name', 'Other'], answer);
    expect(ended).toMatchObject({ code, printed: expect.stringContaining('Continue? [y/N]') });
    expect((await findAccount(account))?.name).toBe(code === 0 ? 'Other' : 'Of the operator');
    if (code !== 0) expect(ended.printed).toContain('Nothing was changed.');
  });
});

describe('the target', () => {
  test('of --stack is its name, stage, AWS account and region', async () => {
    const env = await serveStacks({ 'business-api-trial': servedOutputs });
    expect(await targetOf(env, 'account', 'show', 'demo', '--stack', 'business-api-trial', '--json')).toMatchObject({
      code: 0,
      target: 'target: stack business-api-trial, stage trial, account 123456789012, region eu-west-1',
    });
  });

  test('of --table is its name, AWS account, region and endpoint, also if the command fails', async () => {
    const { target, code } = await targetOf(remote, 'account', 'show', 'nobody');
    expect({ target, code }).toEqual({
      code: 1,
      target: expect.stringMatching(
        new RegExp(`^target: table ${stack.table}, account \\d+, region \\S+, at ${stack.dynamodb_endpoint}$`),
      ),
    });
  });

  test('of a table that the credentials may not describe is unknown, and the command goes on', async () => {
    const { env } = await failingTable('AccessDeniedException', 400, (time) => time === 1);
    // A process of its own, because a process has one client of the table.
    const { code, stdout } = await run(['account', 'list'], env);
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'There are no accounts.\n' });
  });

  test('without options is the local stack', async () => {
    const { target } = await targetOf(await machine({ pid: process.pid }), 'account', 'show', 'demo');
    expect(target).toBe(`target: local stack at ${stack.base_url}`);
  });

  test('of the help is none', async () => {
    expect((await targetOf(remote, 'account', '--help')).target).toBeUndefined();
  });
});
