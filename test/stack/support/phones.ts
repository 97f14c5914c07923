/** The simulated app network of the served stack: messages on phones, and actions of their users. */
import { expect, inject } from 'vitest';
import type { Business, PhoneMessage } from '../../../infra/local/simulators/app-network/inbox.ts';

const { phone_url } = inject('stack');

const ask = async (method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }> => {
  const response = await fetch(`${phone_url}${path}`, {
    method,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? null : JSON.parse(text) };
};

/** The messages on a phone, oldest first. */
export const shownOn = async (phone: string): Promise<PhoneMessage[]> =>
  (await ask('GET', `/phones/${phone}/messages`)).body as PhoneMessage[];

/** The name and the avatar of the business with this bot, as the service reported them last. */
export const businessOf = async (number: string): Promise<Business | undefined> =>
  ((await ask('GET', '/businesses')).body as Business[]).find(({ bot }) => bot === number);

/** Waits until a phone shows `count` messages. */
export const untilShown = async (phone: string, count: number): Promise<PhoneMessage[]> => {
  await expect.poll(async () => (await shownOn(phone)).length).toBe(count);
  return shownOn(phone);
};

/** The user writes to a bot. */
export const write = (phone: string, to: string, text: string) =>
  ask('POST', `/phones/${phone}/messages`, { to, text });

/** The app reports a state of a message. */
export const report = (message: string, state: string) => ask('POST', `/messages/${message}/states`, { state });
