/**
 * Paths that the bridge host does not serve, and the one that ends with a slash, under both readings of `{proxy+}`: AWS does
 * not document whether it matches an empty rest.
 */
import { expect, inject, type TestOptions, test } from 'vitest';
import type { EmptyRest } from '../../../../infra/local/aws/gateway/routes.ts';
import { serveOwnStack } from '../../support/own-stack.ts';
import { newPhone } from '../../support/world.ts';

/** Quick tests use the reading of the served stack. */
const readings: Record<EmptyRest, TestOptions> = { 'does not match': {}, matches: { tags: ['long'] } };

interface Expected {
  status: number;
  body: unknown;
}

const unauthorized: Expected = { status: 401, body: { message: 'Unauthorized' } };
const forbidden: Expected = { status: 403, body: { message: 'Forbidden' } };
const addressNotFound: Expected = {
  status: 404,
  body: expect.objectContaining({ status: 404, code: 'address_not_found' }),
};
const mediaNotFound: Expected = {
  status: 404,
  body: expect.objectContaining({ status: 404, code: 'media_not_found' }),
};
const accepted: Expected = { status: 200, body: { message: 'success', id: expect.any(String) } };

/** Method and path of a request, what a token gets, and what others get. */
const cases: [method: string, path: string, withToken: Expected, without: Expected][] = [
  ['POST', '/v1/webhook/rapidpro', accepted, unauthorized],
  ['POST', '/v1/webhook/rapidpro/', accepted, unauthorized],
  ['POST', '/v1/webhook/rapidpro/?job=1', accepted, unauthorized],
  ['POST', '/v1/webhook/rapidpro/more', addressNotFound, unauthorized],
  ['POST', '/v1/webhook/rapidpro/more/x', addressNotFound, unauthorized],
  ['POST', '/v1/webhook/rapidpro/%2F', addressNotFound, unauthorized],
  ['POST', '/v1/webhook/rapidpro//', addressNotFound, unauthorized],
  ['POST', '//v1/webhook/rapidpro/', addressNotFound, unauthorized],
  ['GET', '/v1/webhook/rapidpro', addressNotFound, unauthorized],
  ['GET', '/v1/webhook/rapidpro/', addressNotFound, unauthorized],
  ['POST', '/v1/webhook/turn/', addressNotFound, unauthorized],
  ['POST', '/v1/webhook/27820000001/', addressNotFound, unauthorized],
  ['POST', '/v1/message/', addressNotFound, unauthorized],
  ['GET', '/v1/message', addressNotFound, unauthorized],
  ['POST', '/v1/research_profilers', addressNotFound, unauthorized],
  ['GET', '/', addressNotFound, unauthorized],
  ['GET', '/favicon.ico', addressNotFound, unauthorized],
  ['GET', '/media/0123456789abcdef0123456789abcdef', mediaNotFound, mediaNotFound],
  ['GET', '/media/x', mediaNotFound, mediaNotFound],
  ['GET', '/media/x/', addressNotFound, addressNotFound],
  ['GET', '/media/x/y', addressNotFound, addressNotFound],
  ['POST', '/media/x', addressNotFound, addressNotFound],
  ['GET', '/media', addressNotFound, addressNotFound],
];

interface Host {
  bridgeUrl: string;
  token: string;
}

/** A bridge host with this reading: that of the served stack, by default, or of a stack of its own. */
const hosts: Record<EmptyRest, () => Promise<Host>> = {
  'does not match': async () => {
    const { bridge_url: bridgeUrl, token } = inject('stack');
    return { bridgeUrl, token };
  },
  matches: async () => {
    const { stack, demo } = await serveOwnStack({ name: 'final-slash', minute: 60_000, emptyRest: 'matches' });
    return { bridgeUrl: stack.bridgeUrl, token: demo.token };
  },
};

for (const emptyRest of ['does not match', 'matches'] satisfies EmptyRest[]) {
  const name = `the bridge host serves RapidPro, and rejects other paths, if an empty rest ${emptyRest}`;
  test(name, readings[emptyRest], async () => {
    const { bridgeUrl, token } = await hosts[emptyRest]();
    const to = newPhone();
    const ask = async (method: string, path: string, authorization?: string) => {
      const response = await fetch(bridgeUrl + path, {
        method,
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          ...(authorization !== undefined && { authorization }),
        },
        ...(method === 'POST' && { body: `id=${path.length}&text=${encodeURIComponent(path)}&to=${to}` }),
      });
      return { status: response.status, body: await response.json() };
    };
    for (const [method, path, withToken, without] of cases) {
      const name = `${method} ${path}`;
      expect(await ask(method, path, token), name).toEqual(withToken);
      expect(await ask(method, path), name).toEqual(without);
    }
    expect(await ask('GET', '/nothing', 'not-a-token')).toEqual(forbidden);
    const head = await fetch(`${bridgeUrl}/media/x`, { method: 'HEAD' });
    expect(head.status).toBe(404);
    // The only path that differs.
    const slash = await ask('GET', '/media/');
    expect(slash).toEqual(emptyRest === 'matches' ? addressNotFound : unauthorized);
  });
}
