/**
 * The operator's commands for an account's webhook that is notified when consent ends.
 *
 * @module-tag long
 */
import { expect, test } from 'vitest';
import { findConsentWebhook, findPlatform } from '../../../../infra/operator/queries/accounts-admin.ts';
import { consentWebhookName, platformKey } from '../../../../shared/accounts/entities.ts';
import { deletionKey } from '../../../../shared/table/keys.ts';
import { inJson, newAccount, newId, operator, refusal } from '../../support/operator.ts';
import { itemsOf } from '../../support/whole-table.ts';

const URL = 'https://destination.example.com/consent';
const PLATFORM = 'https://rapidpro.example.com/receive';

/** An account with RapidPro and a webhook for ends of consent. */
const newWebhook = async () => {
  const account = await newAccount();
  const rapidpro = ['--platform=rapidpro', `--platform-url=${PLATFORM}`];
  const set = await inJson('account', 'update', '--yes', account, ...rapidpro, '--consent-webhook', URL);
  return { account, secret: String(set.consent_webhook_secret) };
};

test('a new webhook for ends of consent gets a secret, which is printed once, and account show prints its URL', async () => {
  const account = await newAccount();
  const set = await operator('account', 'update', '--yes', account, '--consent-webhook', ` ${URL} `);
  expect(set).toMatchObject({ code: 0, stderr: 'Copy the secret now: it will not be shown again.\n' });
  const [, secret = ''] = /^Consent webhook secret {2}(whsec_\S{44})$/m.exec(set.stdout) ?? [];
  expect(await findConsentWebhook(account)).toEqual({ settings: { url: URL, secret } });

  const shown = await operator('account', 'show', account);
  expect(shown.stdout).toMatch(new RegExp(`^Consent webhook {2}${URL}$`, 'm'));
  const json = await inJson('account', 'show', account);
  expect(json).toMatchObject({ consent_webhook_url: URL });
  expect(json).not.toHaveProperty('platform');
  const other = await operator('account', 'update', '--yes', account, '--name', 'Other', '--json');
  expect(JSON.parse(other.stdout)).toMatchObject({ name: 'Other', consent_webhook_url: URL });
  expect(shown.stdout + JSON.stringify(json) + other.stdout + other.stderr).not.toMatch(/whsec_|secret/);
});

test('a new URL keeps the secret, and a replaced secret also signs for 24 hours; the platform is unchanged', async () => {
  const { account, secret } = await newWebhook();
  const moved = 'https://other.example.com/';
  const update = ['account', 'update', '--yes', account];
  const { stdout, stderr } = await operator(...update, '--consent-webhook', moved, '--json');
  expect(stdout).not.toContain('whsec_');
  expect(stderr).toBe(
    'The secret is unchanged, and is not shown. If it is lost, set another one: --consent-webhook-secret.\n',
  );
  expect(await findConsentWebhook(account)).toEqual({ settings: { url: moved, secret } });

  const replaced = await inJson(...update, '--consent-webhook-secret', '');
  expect(replaced.consent_webhook_secret).toMatch(/^whsec_/);
  expect(replaced.consent_webhook_secret).not.toBe(secret);
  expect(await findConsentWebhook(account)).toEqual({
    settings: { url: moved, secret: replaced.consent_webhook_secret },
    previous_secrets: [{ secret, until: expect.any(Number) }],
  });
  const shown = await operator('account', 'show', account);
  expect(shown.stdout).toMatch(/^Its previous secret +also signs until [-0-9]{10} [:0-9]{5} UTC$/m);
  expect(await inJson('account', 'show', account)).toMatchObject({
    consent_webhook_previous_secret_until: expect.stringMatching(/^[-0-9]{10}T/),
  });
  expect(await findPlatform(account)).toEqual({ name: 'rapidpro', settings: { url: PLATFORM } });
});

test('--no-consent-webhook leaves no row and a marker, so that a restore does not bring it back; a repeat changes nothing', async () => {
  const { account } = await newWebhook();
  const update = (...options: string[]) => inJson('account', 'update', '--yes', account, ...options);
  expect(await update('--no-consent-webhook')).not.toHaveProperty('consent_webhook_url');
  expect(await findConsentWebhook(account)).toBeUndefined();
  expect(await itemsOf(deletionKey('platform', consentWebhookName(account)))).toHaveLength(1);
  await update('--no-consent-webhook');
  // The rows of the platform are its own: it is removed without the webhook, and the webhook without it.
  await update('--consent-webhook', URL);
  await update('--no-platform');
  expect(await findConsentWebhook(account)).toMatchObject({ settings: { url: URL } });
  await update('--no-consent-webhook');
  expect(await itemsOf(platformKey(account))).toEqual([]);
});

test.each([
  ['a private network', ['--consent-webhook', 'https://10.0.0.1/'], '--consent-webhook must be a public URL'],
  ['an empty URL', ['--consent-webhook', ''], 'The webhook for ends of consent needs --consent-webhook.'],
  ['a weak secret', ['--consent-webhook-secret', 'whsec_YQ=='], '--consent-webhook-secret '],
])('%s is refused, and changes nothing', async (_case, given, words) => {
  const { account, secret } = await newWebhook();
  expect(await refusal('account', 'update', '--yes', account, '--name', 'New', ...given)).toContain(words);
  expect(await findConsentWebhook(account)).toEqual({ settings: { url: URL, secret } });
  expect(await inJson('account', 'show', account)).toMatchObject({ name: 'Of the operator' });
});

test('--no-consent-webhook with a secret is an error of usage', async () => {
  const { account, secret } = await newWebhook();
  const given = ['--no-consent-webhook', '--consent-webhook-secret', secret];
  const { code, stderr } = await operator('account', 'update', '--yes', account, ...given);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('takes no secret') });
  expect(await findConsentWebhook(account)).toMatchObject({ settings: { secret } });
});

test('a secret without a webhook is refused, and so is an unknown account', async () => {
  const account = await newAccount();
  expect(await refusal('account', 'update', '--yes', account, '--consent-webhook-secret', '')).toContain(
    '--consent-webhook.',
  );
  expect(await refusal('account', 'update', '--yes', newId(), '--consent-webhook', URL)).toContain('no account');
});
