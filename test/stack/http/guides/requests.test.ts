/**
 * The requests in the guide for businesses work as they are there.
 *
 * @module-tag long
 */
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { issuePortalCode } from '../../../../infra/operator/queries/portal-codes.ts';
import { findAccount } from '../../../../shared/accounts/accounts.ts';
import { placeholders } from '../../../../shared/api/placeholders.ts';
import { permissions } from '../../../../shared/core/permissions.ts';
import { addFailedDelivery } from '../../../support/example-delivery.ts';
import { addOffer } from '../../../support/example-offer.ts';
import { call } from '../../support/client.ts';
import { type Caller, newCaller, newPhone } from '../../support/world.ts';

const guide = readFileSync(join(import.meta.dirname, '../../../../infra/docs/business.md'), 'utf8');

const { base_url: BASE_URL, bridge_url: BRIDGE_URL } = inject('stack');

/** The requests, by the path of the first one. The URLs of a local stack cannot be those of encrypted files, which are `https`. */
const requests = [...guide.matchAll(/^```sh\n(.*?)^```$/gms)]
  .map(([, script = '']) => script)
  .filter((script) => script.includes('curl') && !script.includes('encrypted'))
  .map((script): [string, string] => [/_URL(\/[\w/]+)/.exec(script)?.[1] ?? script, script]);

/** What requests need, by a part of them. */
const needs: Record<string, (caller: Caller, job_id: string) => Promise<unknown>> = {
  $JOB: ({ token }, job_id) =>
    call('sendMessage', { token, query: { job_id }, body: { to: newPhone(), type: 'text', text: { body: 'Hi' } } }),
  '/deliveries': ({ account }) => addFailedDelivery(account, newPhone()),
  '/claim': ({ account }) => addOffer(account, newPhone()),
};

/** The id of a delivery. A list may be stale. */
const deliveryOf = async ({ token }: Caller): Promise<string> => {
  let id: string | undefined;
  await expect
    .poll(async () => {
      id = (await call('listDeliveries', { token })).body?.[0]?.id;
      return id;
    })
    .toBeDefined();
  return id ?? '';
};

test('there are requests', () => {
  expect(requests.length).toBeGreaterThan(8);
});

test.each(requests)('%s', async (_, script) => {
  const caller = await newCaller(...permissions.filter((permission) => permission !== 'app'));
  const { account, token } = caller;
  const JOB = randomUUID();
  for (const [part, meet] of Object.entries(needs)) if (script.includes(part)) await meet(caller, JOB);
  const delivery = script.includes(placeholders.delivery) ? await deliveryOf(caller) : '';
  const { code } = await issuePortalCode({ account, label: 'portal', permissions: ['stats'] });
  const { bot_number = '' } = (await findAccount(account)) ?? {};
  const sent = script
    .replaceAll(placeholders.delivery, delivery)
    .replaceAll('BOT_NUMBER', bot_number)
    .replaceAll('curl ', 'curl -sS --fail-with-body ');
  const folder = mkdtempSync(join(tmpdir(), 'requests-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { status, stdout, stderr } = spawnSync('bash', ['-ec', sent], {
    cwd: folder,
    encoding: 'utf8',
    timeout: 60_000,
    env: { BASE_URL, BRIDGE_URL, TOKEN: token, CODE: code, JOB, PATH: process.env.PATH },
  });
  expect(status, `${stdout}${stderr}`).toBe(0);
});
