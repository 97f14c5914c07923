/** The simulated app network beside the served stack: what phones show, and what their users do. */
import { expect, inject } from 'vitest';
import type { PhoneMessage } from '../../../infra/local/simulators/app-network/inbox.ts';

const { phone_url } = inject('stack');

const ask = async (method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }> => {
  const response = await fetch(`${phone_url}${path}`, {
    method,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? null : JSON.parse(text) };
};

/** What a phone shows, oldest first. */
export const shownOn = async (phone: string): Promise<PhoneMessage[]> =>
  (await ask('GET', `/phones/${phone}/messages`)).body as PhoneMessage[];

/** Waits until a phone shows so many messages. */
export const untilShown = async (phone: string, count: number): Promise<PhoneMessage[]> => {
  await expect.poll(async () => (await shownOn(phone)).length).toBe(count);
  return shownOn(phone);
};

/** The user writes to a bot. */
export const write = (phone: string, to: string, text: string) =>
  ask('POST', `/phones/${phone}/messages`, { to, text });

/** The app reports what became of a message. */
export const report = (message: string, state: string) => ask('POST', `/messages/${message}/states`, { state });
