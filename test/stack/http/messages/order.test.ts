/**
 * @module-tag long
 *
 * A user receives messages in the order of acceptance. The table of this separate stack rejects a write that conflicts
 * with an ongoing transaction, as DynamoDB does.
 */

import * as v from 'valibot';
import { expect, test } from 'vitest';
import { type OwnStack, serveOwnStack } from '../../support/own-stack.ts';
import { type Caller, newCaller, newPhone } from '../../support/world.ts';

const MINUTE = 60_000;
/** Approximate duration of a DynamoDB transaction, in milliseconds. */
const HELD_FOR = 10;
/** Clients that send at the same time. Each of them sends one message after the other. */
const CLIENTS = 5;

interface Request {
  url: string;
  headers: Record<string, string>;
  body: (text: string) => string;
}

const senders = ({ stack }: OwnStack, { token }: Caller, phone: string) => ({
  '/v1/message': {
    url: `${stack.baseUrl}/v1/message`,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: (body: string) => JSON.stringify({ to: phone, type: 'text', text: { body } }),
  },
  '/v1/webhook/rapidpro/': {
    url: `${stack.bridgeUrl}/v1/webhook/rapidpro/`,
    headers: { authorization: token, 'content-type': 'application/x-www-form-urlencoded' },
    body: (text: string) => String(new URLSearchParams({ id: text, text, to: phone })),
  },
});

/** An accepted message, with start and end of its request in milliseconds. */
interface Accepted {
  text: string;
  began: number;
  ended: number;
}

/** Sends a message, and repeats it after a 5xx, with the same idempotency key and the same id. */
const send = async (request: Request, text: string): Promise<Accepted> => {
  const began = performance.now();
  for (;;) {
    const headers = { ...request.headers, 'idempotency-key': text };
    const response = await fetch(request.url, { method: 'POST', headers, body: request.body(text) });
    await response.arrayBuffer();
    if (response.status === 200) return { text, began, ended: performance.now() };
    expect(response.status).toBeGreaterThanOrEqual(500);
  }
};

const shownMessages = v.array(v.object({ data: v.object({ text: v.object({ body: v.string() }) }) }));

const onPhone = async ({ app }: OwnStack, phone: string): Promise<string[]> => {
  const response = await fetch(`${app.phoneUrl}/phones/${phone}/messages`);
  return v.parse(shownMessages, await response.json()).map(({ data }) => data.text.body);
};

/** Pairs of messages in the wrong order: the first was accepted before the second was sent, but is shown after it. */
const overtaken = (accepted: Accepted[], shown: string[]): string[] => {
  const placeOf = new Map(shown.map((text, place) => [text, place]));
  const place = ({ text }: Accepted) => placeOf.get(text) ?? Number.NaN;
  return accepted.flatMap((first) =>
    accepted
      .filter((second) => first.ended < second.began && !(place(first) < place(second)))
      .map((second) => `${second.text} before ${first.text}`),
  );
};

const texts = (prefix: string, count: number) => Array.from({ length: count }, (_, place) => `${prefix} ${place}`);

test('messages to one user arrive in the order of acceptance, each once', { tags: 'long' }, async () => {
  const own = await serveOwnStack({ name: 'order', minute: MINUTE, transactionsHeldFor: HELD_FOR });
  const caller = await newCaller('messages', 'bridge');
  const arrive = async (path: '/v1/message' | '/v1/webhook/rapidpro/') => {
    const phone = newPhone();
    const request = senders(own, caller, phone)[path];
    const accepted: Accepted[] = [];
    const inTurn = async (sender: string, count: number) => {
      for (const text of texts(sender, count)) accepted.push(await send(request, text));
    };
    await inTurn('alone', 6);
    await Promise.all(texts('beside others', CLIENTS).map((sender) => inTurn(sender, 3)));

    await expect.poll(async () => (await onPhone(own, phone)).length).toBe(accepted.length);
    const shown = await onPhone(own, phone);
    expect(shown.toSorted()).toEqual(accepted.map(({ text }) => text).toSorted());
    expect(shown.slice(0, 6)).toEqual(texts('alone', 6));
    expect(overtaken(accepted, shown)).toEqual([]);
  };
  await Promise.all([arrive('/v1/message'), arrive('/v1/webhook/rapidpro/')]);
});
