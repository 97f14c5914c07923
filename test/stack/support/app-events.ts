/** Events of the app network, sent to the served stack. */
import { randomUUID } from 'node:crypto';
import { expect, inject } from 'vitest';
import { type ProblemDocument, type Received, sendRaw } from './client.ts';

const { app_token: token } = inject('stack');

/** Sends events without changes. */
export const report = (body: unknown): Promise<Received<unknown>> =>
  sendRaw('receiveAppEvents', { token, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

/** Sends events and checks that all were applied. */
export const applied = async (body: unknown): Promise<void> => {
  const received = await report(body);
  expect(received, JSON.stringify(received.body)).toMatchObject({ status: 204 });
};

/** Sends events and checks that some were rejected. Returns a pointer and a detail for each error. */
export const rejected = async (body: unknown): Promise<string[]> => {
  const { status, body: problem } = await report(body);
  expect({ status, code: (problem as ProblemDocument).code }).toEqual({ status: 422, code: 'events_refused' });
  return ((problem as ProblemDocument).errors ?? []).map(({ pointer, detail }) => `${pointer} ${detail}`);
};

/** The error of an event that follows a rejected event of the same user. */
export const heldBack = (index: number): string =>
  `#/${index} was not applied, because an earlier event about the same user was rejected: correct or remove that one, and send both again`;

export const state = (id: string, reached: string, event: string = randomUUID()) => ({
  id: event,
  type: 'message.state',
  data: { id, state: reached },
});

export const message = (from: string, to: string, body = 'Hi', event: string = randomUUID()) => ({
  id: event,
  type: 'message.received',
  data: { from, to, type: 'text', text: { body } },
});

export const updated = (phone_number: string, data: object, event: string = randomUUID()) => ({
  id: event,
  type: 'user.updated',
  data: { phone_number, ...data },
});

export const removed = (phone_number: string, event: string = randomUUID()) => ({
  id: event,
  type: 'user.removed',
  data: { phone_number },
});

export const answered = (id: string, answers: object, event: string = randomUUID()) => ({
  id: event,
  type: 'user_data.answered',
  data: { id, answers },
});

export const withdrawn = (id: string, ...properties: string[]) => ({
  id: randomUUID(),
  type: 'user_data.withdrawn',
  data: { id, properties },
});

/** An update with a first name. */
export const named = (phone: string, value: string, event: string = randomUUID()) =>
  updated(phone, { properties: { first_name: { value, source: 'user' } } }, event);

/** Adds the time of its data to an event. */
export const at = <Event extends object>(timestamp: string, event: Event): Event & { timestamp: string } => ({
  ...event,
  timestamp,
});
