/** Data for scenarios: an account, users and log entries. */
import { randomBytes } from 'node:crypto';
import { vi } from 'vitest';
import type { AccountPlatform } from '../../../../infra/operator/queries/accounts-admin.ts';
import { changeOptOut } from '../../../../shared/messaging/opt-outs/changes.ts';
import { sendMessage } from '../../../../shared/messaging/send.ts';
import { messageKey } from '../../../../shared/outbox/entities.ts';
import type { LogItem } from '../../../../shared/outbox/message.ts';
import type { AnswerItem } from '../../../../shared/profilers/answer.ts';
import { recordAnswer } from '../../../../shared/profilers/answers.ts';
import { isAnswerKey } from '../../../../shared/profilers/entities.ts';
import { createProfiler } from '../../../../shared/profilers/profilers.ts';
import { answerRequest } from '../../../../shared/user-data/request-answers.ts';
import { startRequest } from '../../../../shared/user-data/requests.ts';
import { updateUser } from '../../../../shared/users/users.ts';
import { itemsIn } from '../../support/whole-table.ts';
import { newBusiness as newBusinessOn, newPhone } from '../../support/world.ts';

/** The URL of the destination that receives all posts. */
export const posts = { url: '' };

/** A new account with a bot and a platform, by default a plain webhook, and the phone number of a user. */
export const newBusiness = (
  platform: AccountPlatform = { name: 'webhook', settings: { url: posts.url, secret: newSecret() } },
) => newBusinessOn(platform);

/** A signing secret of Standard Webhooks. */
export const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

/** The phone number of a new user with a name and a device make, and optionally with an id. */
export const newUser = async (id?: string): Promise<string> => {
  const phone = newPhone();
  const property = (value: string) => ({ value, source: 'self' });
  await updateUser(`registered ${phone}`, {
    phone_number: phone,
    id,
    properties: { first_name: property('Ben'), last_name: property('Bo'), device_make: property('Acme') },
  });
  return phone;
};

export const textTo = (to: string) => ({ to, type: 'text' as const, text: { body: 'Hello' } });

/**
 * Adds data of a user to an account: an answer to a profiler, a request with a granted value, a pending message, and an
 * opt-out.
 */
export const addUserData = async (account: string, phone: string): Promise<void> => {
  const { id, options } = await createProfiler(account, { question: 'Well?', options: ['yes', 'no'] });
  await recordAnswer(account, { profiler_id: id, option_id: options[0]?.id ?? '', phone_number: phone });
  const data = [{ property: 'first_name' as const, required: false }];
  const request = await startRequest(account, phone, { reason: 'Why not?', data }, undefined);
  await answerRequest(request.id, { first_name: 'approved' });
  await sendMessage(account, textTo(phone), {});
  await changeOptOut({ event: 'stopped', account, phone, state: 'stopped' });
};

/** All answers of the table, as the stream contains them. */
export const answersInTable = async (): Promise<AnswerItem[]> =>
  (await itemsIn()).filter(isAnswerKey) as unknown as AnswerItem[];

/** All log entries of the table, as the stream contains them. */
export const entriesOfLog = async (): Promise<LogItem[]> => {
  const items = await itemsIn();
  return items.filter(({ pk }) => pk.startsWith(messageKey('').pk)) as unknown as LogItem[];
};

/** Runs `work` with a clock that is so many minutes behind. */
export const minutesAgo = async <Result>(minutes: number, work: () => Promise<Result>): Promise<Result> => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - minutes * 60_000 });
  try {
    return await work();
  } finally {
    vi.useRealTimers();
  }
};
