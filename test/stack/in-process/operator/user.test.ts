/**
 * The operator's `user` commands for personal data: show, grants, export and erase.
 *
 * @module-tag long
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { registerUser } from '../../../../infra/operator/queries/users-admin.ts';
import { newId as newUuid } from '../../../../shared/core/ids.ts';
import { sendMessage } from '../../../../shared/messaging/send.ts';
import { messageKey } from '../../../../shared/outbox/entities.ts';
import type { Conversation } from '../../../../shared/outbox/event.ts';
import { recordAnswer } from '../../../../shared/profilers/answers.ts';
import { createProfiler } from '../../../../shared/profilers/profilers.ts';
import { update } from '../../../../shared/table/client.ts';
import { recordConsentReceipt } from '../../../../shared/user-data/consent-receipts.ts';
import { readConsents } from '../../../../shared/user-data/consents.ts';
import { requestKey } from '../../../../shared/user-data/entities.ts';
import { answerRequest } from '../../../../shared/user-data/request-answers.ts';
import { startRequest } from '../../../../shared/user-data/requests.ts';
import { updateUser } from '../../../../shared/users/users.ts';
import { lifetime } from '../../../support/lifetime.ts';
import {
  addPendingEntries,
  folder,
  inJson,
  newId,
  operator,
  refusal,
  time,
  unconfirmed,
} from '../../support/operator.ts';
import { useOwnTable } from '../../support/own-table.ts';
import { newPhone } from '../../support/world.ts';

useOwnTable('operator-user');

const NAME = 'Thandi';
const TEXT = 'a text that waits';
const JOB = newUuid();

/** A user with every kind of item, and their account. */
const newUser = async () => {
  const phone = newPhone();
  const { id: account } = await createAccount({ name: 'Of the operator', id: newId(), bot_number: newPhone() });
  await updateUser(newUuid(), {
    phone_number: phone,
    panelist: true,
    properties: { first_name: { value: NAME, source: 'user' } },
  });
  const profiler = await createProfiler(account, { question: 'Well?', options: ['yes', 'no'] });
  const [option_id = ''] = profiler.options.map(({ id }) => id);
  await recordAnswer(account, { profiler_id: profiler.id, option_id, phone_number: phone });
  const body = { reason: 'To greet you', data: [{ property: 'first_name' as const, required: false }] };
  const { id: request } = await startRequest(account, phone, body, undefined);
  await answerRequest(request, { first_name: 'approved' });
  const conversation: Conversation = { direction: 'platform', account, phone };
  const message = { id: newUuid(), account, phone, job_id: newUuid(), payload_type: 'text', ...lifetime };
  const content = { type: 'text' as const, text: { body: TEXT } };
  await addPendingEntries(conversation, [{ type: 'message.received', message, to: newPhone(), content }]);
  const sent = await sendMessage(account, { to: phone, ...content }, { job_id: JOB });
  return { phone, account, request, profiler: profiler.id, option: option_id, sent };
};

test('user stop and user start change an opt-out, and user opt-outs lists it; an unknown account is refused', async () => {
  const phone = newPhone();
  const { id: account } = await createAccount({ name: 'Test', id: newId() });
  expect(await inJson('user', 'opt-outs', phone)).toEqual([]);
  const change = (name: string) => inJson('user', name, phone, account, '--yes');
  expect(await change('stop')).toEqual({ phone_number: phone, account, state: 'stopped', changed: true });
  expect(await change('stop')).toMatchObject({ changed: false });
  expect(await inJson('user', 'opt-outs', phone)).toEqual([{ account, state: 'stopped', updated: time }]);
  expect((await operator('user', 'opt-outs', phone)).stdout).toMatch(new RegExp(`${account} +stopped`));
  expect((await operator('user', 'start', phone, account, '--yes')).stdout).toContain(`${account} is started for`);
  expect(await inJson('user', 'opt-outs', phone)).toMatchObject([{ account, state: 'started' }]);
  expect(await refusal('user', 'stop', phone, newId())).toContain('no account');
});

test('profiler recount adds answers that were not counted, and a repeat none', async () => {
  const { profiler } = await newUser();
  expect(await inJson('profiler', 'recount', profiler)).toEqual({ answers: 1, counted: 1 });
  expect(await inJson('profiler', 'recount', profiler)).toEqual({ answers: 1, counted: 0 });
});

describe('user show', () => {
  test('user show prints each property with its source and time, and no values', async () => {
    const { phone } = await newUser();
    expect(await inJson('user', 'show', phone)).toEqual({
      phone_number: phone,
      registered: time,
      panelist: true,
      properties: { first_name: { source: 'user', updated: time } },
      receipts: 1,
    });
    const { stdout } = await operator('user', 'show', phone);
    const minute = '[-0-9]{10} [:0-9]{5} UTC';
    expect(stdout).toMatch(
      new RegExp(`^User +${phone}\nRegistered +${minute}\nPanelist +yes\nReceipts +1 [(]"user grants"`),
    );
    expect(stdout).toMatch(new RegExp(`^PROPERTY +SOURCE +UPDATED\nfirst_name +user +${minute}$`, 'm'));
    expect(stdout).not.toContain(NAME);
    expect((await operator('user', 'show', phone, '--json')).stdout).not.toContain(NAME);
  });

  test('user show reports that a user has no properties', async () => {
    const phone = newPhone();
    await registerUser({ phone_number: phone, panelist: false });
    const { stdout } = await operator('user', 'show', phone);
    expect(stdout).toMatch(/\nPanelist +no\nReceipts +none\n\nNo properties are known\.\n$/);
  });

  test('user show reports with a masked number that a user is not registered', async () => {
    expect(await refusal('user', 'show', newPhone())).toMatch(/^error: \d{4}…\d{4} is not registered\./);
  });
});

describe('user grants', () => {
  test('user grants prints account, properties, time and reason of each release, and no values', async () => {
    const { phone, account, request } = await newUser();
    expect(await inJson('user', 'grants', phone)).toEqual([
      { account, request, properties: ['first_name'], reason: 'To greet you', created: time },
    ]);
    const { code, stdout } = await operator('user', 'grants', phone);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^WHEN +EVENT +ACCOUNT +REQUEST +PROPERTIES +REASON$/m);
    expect(stdout).toMatch(new RegExp(`UTC +released +${account} +${request} +first_name +To greet you$`, 'm'));
    expect(stdout).not.toContain(NAME);
  });

  test('user grants reports with a masked number that no data was released', async () => {
    const phone = newPhone();
    expect(await inJson('user', 'grants', phone)).toEqual([]);
    const { stdout } = await operator('user', 'grants', phone);
    expect(stdout).toMatch(/^No data of \d{4}…\d{4} was released\.$/m);
    expect(stdout).not.toContain(phone);
  });
});

describe('user consent-record', () => {
  const readRecords = async (...args: string[]) => {
    const { code, stdout, stderr } = await operator('user', 'consent-record', ...args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('personal data') });
    return { stderr, text: stdout, records: JSON.parse(stdout)['@graph'] };
  };

  test('exports the consent receipts without values, adds the facts of a file, and says what is missing', async () => {
    const { phone, account, request } = await newUser();
    const { text, records, stderr } = await readRecords(phone);
    expect(records).toMatchObject([
      {
        '@type': 'dpv:ConsentRecord',
        'dct:identifier': request,
        'dpv:hasDataSubject': { 'dpv:hasIdentifier': phone },
        'dpv:hasEntity': [{ 'dpv:hasIdentifier': account, 'dpv:hasName': 'Of the operator' }],
      },
    ]);
    expect(text).toContain('To greet you');
    expect(text).not.toContain(NAME);
    expect(stderr).toMatch(/missing: notice, .*, jurisdiction, .*--add/);

    const file = join(await folder(), 'facts.json');
    await writeFile(file, JSON.stringify({ record: { 'dpv:hasJurisdiction': 'loc:ZA' } }));
    const added = await readRecords(phone, '--add', file);
    expect(added.records).toMatchObject([{ 'dpv:hasJurisdiction': 'loc:ZA' }]);
    expect(added.stderr).not.toContain('jurisdiction');
    for (const [content, words] of [
      ['{"record":{"jurisdiction":"ZA"}}', 'is invalid at record.jurisdiction: '],
      ['{', 'is not JSON'],
    ] as const) {
      await writeFile(file, content);
      expect(await refusal('user', 'consent-record', phone, '--add', file)).toContain(words);
    }
    expect(await refusal('user', 'consent-record', phone, '--add', `${file}.none`)).toContain('cannot be read');
  });

  test('finds the records of a removed user by the pseudonym, with the withdrawal, and none by the number', async () => {
    const { phone, request } = await newUser();
    await operator('user', 'erase', phone, '--yes');
    const [pseudonym = ''] = (await readConsents(request)).consents.map((consent) => consent.phone);
    const { text, records } = await readRecords(pseudonym);
    expect(records[0]['dpv:hasConsentStatus']).toMatchObject([
      { '@type': ['dpv:ConsentGiven', 'dpv:ExpressedConsent'] },
      { '@type': 'dpv:ConsentWithdrawn' },
    ]);
    expect(records[0]['dpv:hasDataSubject']['dpv:hasIdentifier']).toBe(pseudonym);
    expect(text).not.toContain(phone);
    expect(await refusal('user', 'consent-record', phone)).toMatch(/^error: No data of .* was released\.\n$/);
    const { code, stderr } = await operator('user', 'consent-record', 'erased-nobody');
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('pseudonym') });
  });

  test('refuses to guess whether the user was asked for a property that is not in the catalogue', async () => {
    const { phone, account } = await newUser();
    const receipt = { account, request: newUuid(), properties: ['shoe_size'], reason: 'Shoes' };
    await recordConsentReceipt(phone, { ...receipt, created: '2027-01-31T12:00:00.000000' });
    expect(await refusal('user', 'consent-record', phone)).toMatch(/shoe_size.*MORE_PROPERTIES/);
  });
});

describe('user export', () => {
  test('user export prints all data of a user, and no data of another user', async () => {
    const [{ phone, account, request, profiler, option, sent }, other] = [await newUser(), await newUser()];
    const { code, stdout, stderr } = await operator('user', 'export', phone);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('personal data') });
    expect(JSON.parse(stdout)).toEqual({
      phone_number: phone,
      profile: {
        registered: time,
        panelist: true,
        properties: { first_name: { value: NAME, source: 'user', updated: time } },
      },
      answers: [{ profiler_id: profiler, option_id: option, created: time }],
      requests: [
        {
          id: request,
          account,
          business: 'Of the operator',
          reason: 'To greet you',
          properties: [{ property: 'first_name', required: false }],
          results: { first_name: { status: 'approved', value: NAME, source: 'user', timestamp: time } },
          created: time,
          completed: time,
        },
      ],
      consents: [
        {
          request_id: request,
          account,
          reason: 'To greet you',
          created: time,
          properties: { first_name: { released: time } },
        },
      ],
      opt_outs: [],
      grants: [expect.objectContaining({ account, request })],
      log: [{ message_id: sent, account, state: 'sent', created: time, job_id: JOB, payload_type: 'text' }],
      deliveries: [],
      waiting: [
        { account, direction: 'app', created: time, what: expect.objectContaining({ type: 'user_data.request' }) },
        {
          account,
          direction: 'app',
          created: time,
          what: expect.objectContaining({ content: { type: 'text', text: { body: TEXT } } }),
        },
        {
          account,
          direction: 'platform',
          created: time,
          what: expect.objectContaining({ content: expect.anything() }),
        },
      ],
    });
    for (const strange of [other.phone, other.account, other.request]) expect(stdout).not.toContain(strange);
  });

  test('user export leaves out expired items that the table still contains', async () => {
    const { phone, request, sent } = await newUser();
    const past = Math.floor(Date.now() / 1_000) - 1;
    for (const Key of [requestKey(request), messageKey(sent)]) {
      await update({
        Key,
        UpdateExpression: 'SET expires_at = :past',
        ExpressionAttributeValues: { ':past': past },
      });
    }
    const { requests, log, answers } = JSON.parse((await operator('user', 'export', phone)).stdout);
    expect([requests, log, answers]).toEqual([[], [], [expect.anything()]]);
  });

  test('user export reports with a masked number that there is no data', async () => {
    expect(await refusal('user', 'export', newPhone())).toMatch(/^error: There is no data about \d{4}…\d{4}\.\n$/);
  });
});

describe('user erase', () => {
  test('user erase without --yes prints the counts and erases nothing', async () => {
    const { phone } = await newUser();
    const preview = await unconfirmed('user', 'erase', phone);
    expect(preview).toContain('profile: 1, answers: 1, user data requests: 1, pending: 3');
    expect(preview).not.toContain(phone);
    expect((await operator('user', 'export', phone)).code).toBe(0);
    expect(await unconfirmed('user', 'erase', newPhone())).toContain(': nothing');
  });

  test('user erase --yes erases a user and prints the counts, and a repeat finds no data', async () => {
    const [{ phone }, other] = [await newUser(), await newUser()];
    expect(await inJson('user', 'erase', phone, '--yes')).toEqual({
      phone_number: phone,
      profile: 1,
      answers: 1,
      requests: 1,
      waiting: 3,
      log_entries: 1,
      receipts: 1,
      opt_outs: 0,
      deliveries: 0,
      consents: 1,
    });
    expect(await refusal('user', 'export', phone)).toContain('There is no data about');
    expect(await inJson('user', 'grants', phone)).toEqual([]);
    const { code, stdout } = await operator('user', 'erase', phone, '--yes');
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^There is no data about \d{4}…\d{4}\.\n$/),
    });
    expect((await operator('user', 'export', other.phone)).code).toBe(0);
  });

  test('user erase --yes prints the counts as text, without the number', async () => {
    const { phone } = await newUser();
    const { code, stdout } = await operator('user', 'erase', phone, '--yes');
    expect(code).toBe(0);
    expect(stdout).toContain('profile: 1, answers: 1, user data requests: 1');
    expect(stdout).not.toContain(phone);
  });
});

test.each(['grants', 'export', 'erase'])('user %s with a malformed number exits with 2', async (command) => {
  const { code, stderr } = await operator('user', command, '+27x');
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('must be a phone number') });
});
