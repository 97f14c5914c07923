/** Requests to external servers, with HTTP servers on loopback: which URLs are called, and how each request can end. */
import { once } from 'node:events';
import { createServer as createHttpServer, type Server } from 'node:http';
import { createServer, Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { closeServer, listenOnLoopback } from '../../../infra/local/aws/loopback.ts';
import { resolver } from '../../../shared/destinations/http/addresses.ts';
import { post } from '../../../shared/destinations/http/http-client.ts';
import { isPublicAddress } from '../../../shared/destinations/http/public-address.ts';
import { DeliveryError, jsonRequest } from '../../../shared/destinations/http/request.ts';
import { signed } from '../../../shared/destinations/http/standard-webhooks.ts';
import { DestinationServer, drop, hang } from '../../stack/support/destination-server.ts';
import { noContent, RawServer, writeThenReset } from '../support/raw-server.ts';

let destination: DestinationServer;

beforeAll(async () => {
  destination = await DestinationServer.start();
});

afterAll(() => destination.close());

beforeEach(() => {
  vi.stubEnv('ALLOW_LOOPBACK', 'true');
  destination.calls.length = 0;
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  vi.useRealTimers();
});

const postTo = (url: string) => post({ url, headers: { 'content-type': 'application/json' }, body: '{"a":"é"}' });

/** The reason of the error of a request that gets no response. */
const failureOf = async (url: string): Promise<string> => {
  const error = await postTo(url).catch((thrown: unknown) => thrown);
  if (!(error instanceof DeliveryError)) throw new Error(`${url} was answered, or failed otherwise: ${error}`);
  expect([error.name, error.message]).toEqual(['DeliveryError', error.reason]);
  return error.reason;
};

/** Starts a server until the end of the test. Returns its URL. */
const serve = async (server: Server): Promise<string> => {
  onTestFinished(() => closeServer(server));
  return listenOnLoopback(server, 0);
};

/** A local port that closes each connection, and the number of connections. */
const listen = async () => {
  const counted = { connections: 0 };
  const server = createServer((socket) => {
    counted.connections += 1;
    socket.destroy();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  return { counted, port: typeof address === 'object' ? address?.port : undefined };
};

/** A server that responds with any bytes, until the end of the test. */
const rawServer = async (): Promise<RawServer> => {
  const server = await RawServer.start();
  onTestFinished(() => server.close());
  return server;
};

/** Makes every host name resolve to these addresses. */
const resolveTo = (...addresses: string[]) => {
  const ofFamily = (family: 4 | 6) => async (): Promise<string[]> => {
    const found = addresses.filter((address) => address.includes(':') === (family === 6));
    if (found.length === 0) throw Object.assign(new Error('no such address'), { code: 'ENODATA' });
    return found;
  };
  vi.spyOn(resolver, 'resolve6').mockImplementation(ofFamily(6) as unknown as typeof resolver.resolve6);
  return vi.spyOn(resolver, 'resolve4').mockImplementation(ofFamily(4) as unknown as typeof resolver.resolve4);
};

const PRIVATE = [
  'https://10.0.0.1/',
  'https://172.16.0.1/',
  'https://192.168.1.1/',
  'https://169.254.169.254/latest/meta-data/',
  'https://0.0.0.0/',
  'https://100.64.0.1/',
  'https://198.18.0.1/',
  'https://224.0.0.1/',
  'https://255.255.255.255/',
  'https://[::]/',
  'https://[fc00::1]/',
  'https://[fd00:ec2::254]/',
  'https://[fe80::1]/',
  'https://[ff02::1]/',
  'https://[::ffff:10.0.0.1]/',
  'https://[::10.0.0.1]/',
  'https://[::127.0.0.1]/',
  'https://[4000::1]/',
  'https://[64:ff9b::a00:1]/',
  'https://[2002:a00:1::]/',
];

const OF_THIS_MACHINE = [
  'https://127.0.0.1/',
  'https://127.255.255.254/',
  'https://[::1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://2130706433/',
  'https://0x7f.1/',
  'https://017700000001/',
  'https://127.1/',
  'https://127.0.0.1./',
];

describe('isPublicAddress', () => {
  test.each(['https://8.8.8.8/', 'https://223.255.255.255/', 'https://[2606:4700::1]/', 'https://[::ffff:8.8.8.8]/'])(
    'returns true for a public IP address: %s',
    (url) => {
      expect(isPublicAddress(new URL(url))).toBe(true);
    },
  );

  test.each(PRIVATE)('returns false for an IP address that is not public: %s', (url) => {
    expect(isPublicAddress(new URL(url))).toBe(false);
  });
});

describe('a URL of an address that is not public', () => {
  test.each([...PRIVATE, ...OF_THIS_MACHINE])('is rejected before any connection: %s', async (url) => {
    vi.stubEnv('ALLOW_LOOPBACK', undefined);
    const connect = vi.spyOn(Socket.prototype, 'connect');
    expect(await failureOf(url)).toBe('address_not_public');
    expect(connect).not.toHaveBeenCalled();
  });

  test.each(PRIVATE.flatMap((url) => [url, url.replace('https:', 'http:')]))(
    'is rejected on the local stack too, unless it is a loopback address: %s',
    async (url) => {
      const connect = vi.spyOn(Socket.prototype, 'connect');
      expect(await failureOf(url)).toBe('address_not_public');
      expect(connect).not.toHaveBeenCalled();
    },
  );

  test.each(['localhost', 'LOCALHOST'])('is rejected behind a host name: %s', async (name) => {
    const { counted, port } = await listen();
    // With loopback allowed, the connection shows that the name resolves to this machine.
    expect(await failureOf(`https://${name}:${port}/`)).toBe('no_connection');
    expect(counted.connections).toBe(1);
    vi.stubEnv('ALLOW_LOOPBACK', undefined);
    expect(await failureOf(`https://${name}:${port}/`)).toBe('address_not_public');
    expect(counted.connections).toBe(1);
  });

  test.each([
    [['10.0.0.1']],
    [['8.8.8.8', '10.0.0.1']],
    [['2606:4700::1', '8.8.8.8', '::1']],
    [['::ffff:169.254.169.254']],
  ])('is rejected if a host name resolves to any such address: %j', async (addresses) => {
    vi.stubEnv('ALLOW_LOOPBACK', undefined);
    resolveTo(...addresses);
    expect(await failureOf('https://customer.example.com/')).toBe('address_not_public');
  });
});

test('the request goes to the address that was checked, and the name is resolved once', async () => {
  const resolve = resolveTo('127.0.0.1');
  expect((await postTo(destination.url.replace('127.0.0.1', 'customer.example.com'))).status).toBe(204);
  expect(resolve).toHaveBeenCalledTimes(1);
});

describe('a URL that is not https', () => {
  test.each(['http://customer.example.com/', 'http://8.8.8.8/', 'http://127.0.0.1/', 'ftp://customer.example.com/'])(
    'is rejected before any connection: %s',
    async (url) => {
      vi.stubEnv('ALLOW_LOOPBACK', undefined);
      const connect = vi.spyOn(Socket.prototype, 'connect');
      expect(await failureOf(url)).toBe('address_not_https');
      expect(connect).not.toHaveBeenCalled();
    },
  );

  test.each(['1', 'yes', 'TRUE', ''])('is rejected if ALLOW_LOOPBACK is "%s", not "true"', async (value) => {
    vi.stubEnv('ALLOW_LOOPBACK', value);
    expect(await failureOf(destination.url)).toBe('address_not_https');
    expect(destination.calls).toEqual([]);
  });

  test('is called on the local stack if it is http', async () => {
    destination.answers = [204];
    expect((await postTo(destination.url)).status).toBe(204);
    expect(await failureOf('ftp://127.0.0.1/')).toBe('address_not_https');
  });
});

test.each(['', 'customer.example.com', 'https://'])('an invalid URL is not called: "%s"', async (url) => {
  expect(await failureOf(url)).toBe('not_set_up');
});

describe('a response', () => {
  test('has status and headers, and the request has the given body and headers', async () => {
    destination.answers = [{ status: 503, headers: { 'retry-after': '7' } }];
    expect(await postTo(destination.url)).toMatchObject({ status: 503, headers: { 'retry-after': '7' } });
    expect(destination.calls).toMatchObject([
      { body: '{"a":"é"}', headers: { 'content-type': 'application/json', host: new URL(destination.url).host } },
    ]);
  });

  test.each([301, 302, 303, 307, 308])(
    'with a redirect is returned, and the redirect is not followed: %i',
    async (status) => {
      const other = await DestinationServer.start();
      onTestFinished(() => other.close());
      destination.answers = [{ status, headers: { location: other.url } }];
      expect((await postTo(destination.url)).status).toBe(status);
      expect(other.calls).toEqual([]);
    },
  );

  test('with an endless body is returned, and the connection is closed', async () => {
    vi.stubEnv('MINUTE', '1200');
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    destination.answers = [
      (response) => {
        response.once('close', resolve).writeHead(200).write('x');
      },
    ];
    expect(await postTo(destination.url)).toMatchObject({ status: 200, body: 'x' });
    await closed;
  });

  test('is returned if the connection breaks within the body', async () => {
    destination.answers = [
      (response) => void response.writeHead(200, { 'content-length': '10' }).write('x', () => response.destroy()),
    ];
    expect(await postTo(destination.url)).toMatchObject({ status: 200, body: 'x' });
  });
});

describe('a response body', () => {
  const bodyOf = async () => (await postTo(destination.url)).body;

  test('is complete and in UTF-8, even if it arrives in pieces that split a character', async () => {
    const bytes = Buffer.from('Zoë 😀');
    destination.answers = [
      (response) => {
        response.writeHead(503).write(bytes.subarray(0, 7), () => response.end(bytes.subarray(7)));
      },
    ];
    expect(await bodyOf()).toBe('Zoë 😀');
  });

  test.each([
    ['9,999 characters', 9_999, 9_999],
    ['10,000', 10_000, 10_000],
    ['10,001', 10_001, 10_000],
    ['65,536', 65_536, 10_000],
    ['65,537', 65_537, 10_000],
    ['10 MB', 10_000_000, 10_000],
  ])('is cut after 10,000 characters: %s', async (_, length, max) => {
    destination.answers = [(response) => void response.writeHead(200).end('x'.repeat(length))];
    expect(await bodyOf()).toBe('x'.repeat(max));
  });

  test('is returned as soon as more than 64 KB have arrived', async () => {
    destination.answers = [(response) => void response.writeHead(200).write('x'.repeat(65_537))];
    expect(await bodyOf()).toHaveLength(10_000);
  });

  test('is returned 2 s after the headers, even if it is incomplete', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    destination.answers = [(response) => void response.writeHead(200).write('x')];
    let isOver = false;
    const body = bodyOf().finally(() => {
      isOver = true;
    });
    // One timer limits the attempt, the other the body. `expect.poll` would advance both.
    while (vi.getTimerCount() < 2) await setImmediate();
    await vi.advanceTimersByTimeAsync(1_999);
    expect(isOver).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await body;
  });
});

describe('a request without a response', () => {
  test('times out after 10 s, or after a sixth of MINUTE on the local stack', async () => {
    const timers = vi.spyOn(globalThis, 'setTimeout');
    const isTimed = (milliseconds: number) => timers.mock.calls.some(([, after]) => after === milliseconds);
    destination.answers = [204];
    await postTo(destination.url);
    expect(isTimed(10_000)).toBe(true);
    expect(isTimed(200)).toBe(false);
    vi.stubEnv('MINUTE', '1200');
    destination.answers = [hang];
    expect(await failureOf(destination.url)).toBe('timeout');
    expect(isTimed(200)).toBe(true);
  });

  test('times out if the host name never resolves', async () => {
    vi.stubEnv('MINUTE', '600');
    const never = new Promise<never>(() => undefined);
    const resolve = vi.spyOn(resolver, 'resolve4').mockReturnValue(never);
    expect(await failureOf('https://customer.example.com/')).toBe('timeout');
    expect(resolve).toHaveBeenCalledTimes(1);
  });

  test('times out if the server never completes the TLS handshake, and the connection is closed', async () => {
    vi.stubEnv('MINUTE', '600');
    const silent = await rawServer();
    expect(await failureOf(silent.url.replace('http:', 'https:'))).toBe('timeout');
    expect(silent.connections).toBe(1);
    await expect.poll(() => silent.open).toBe(0);
  });

  test('fails with no_connection if a header contains a line break', async () => {
    const request = { url: destination.url, headers: { 'x-a': 'line\nend' }, body: '' };
    await expect(post(request)).rejects.toMatchObject({ reason: 'no_connection' });
    expect(destination.calls).toEqual([]);
  });

  test('fails with no_connection if the server drops a new connection', async () => {
    // A server without kept connections: after a kept one, the client would retry.
    const other = await DestinationServer.start();
    onTestFinished(() => other.close());
    other.answers = [drop];
    expect(await failureOf(other.url)).toBe('no_connection');
    expect(other.calls).toHaveLength(1);
  });

  test('fails with no_connection if the port is closed', async () => {
    const other = await DestinationServer.start();
    const { url } = other;
    await other.close();
    expect(await failureOf(url)).toBe('no_connection');
  });

  test('fails with no_connection if the host name does not exist', async () => {
    // Resolvers reject a label of 64 characters without a query.
    expect(await failureOf(`https://${'a'.repeat(64)}.invalid/`)).toBe('no_connection');
    resolveTo();
    expect(await failureOf('https://customer.example.com/')).toBe('no_connection');
  });

  test('fails with no_connection if the server does not support TLS', async () => {
    expect(await failureOf(destination.url.replace('http:', 'https:'))).toBe('no_connection');
  });
});

describe('a connection', () => {
  test('is kept for the next request', async () => {
    let connections = 0;
    const server = createHttpServer((_request, response) => response.writeHead(204).end());
    server.on('connection', () => {
      connections += 1;
    });
    const url = await serve(server);
    for (let calls = 0; calls === connections; calls += 1) await postTo(url);
  });

  test('that the server closed after it was kept makes no request fail', async () => {
    const used = new WeakSet<object>();
    let closed = 0;
    const url = await serve(
      createHttpServer(({ socket }, response) => {
        if (used.has(socket)) {
          closed += 1;
          socket.destroy();
        } else {
          used.add(socket);
          response.writeHead(204).end();
        }
      }),
    );
    while (closed < 3) expect((await postTo(url)).status).toBe(204);
  });
});

describe('a second request on a kept connection', () => {
  test('is not repeated after its response broke off', async () => {
    const server = await rawServer();
    server.respond = ({ place, ...exchange }) =>
      (place === 1 ? noContent : writeThenReset('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart'))({
        place,
        ...exchange,
      });
    for (const body of ['A', 'B', 'C']) {
      expect((await post(jsonRequest(server.url, body))).status).toBe(body === 'B' ? 200 : 204);
    }
    await expect.poll(() => server.open).toBe(1);
    expect((await post(jsonRequest(server.url, 'D'))).status).toBe(200);
    expect(server.bodies).toEqual(['"A"', '"B"', '"C"', '"D"']);
  });

  test('does not take surplus bytes of the previous response as its response', async () => {
    const server = await rawServer();
    let surplus: (() => void) | undefined;
    server.respond = ({ socket }) => {
      socket.write('HTTP/1.1 204 No Content\r\n\r\n');
      surplus = () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
    };
    await post(jsonRequest(server.url, 'A'));
    expect(server.open).toBe(1);
    surplus?.();
    await expect.poll(() => server.open).toBe(0);
    expect((await post(jsonRequest(server.url, 'B'))).status).toBe(204);
    expect(server.connections).toBe(2);
  });

  test.each([
    [29_000, 1],
    [31_000, 2],
  ])('uses the connection only if it was idle for less than 30 s: %i ms', async (idleMs, connections) => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const server = await rawServer();
    await post(jsonRequest(server.url, 'A'));
    vi.setSystemTime(Date.now() + idleMs);
    await post(jsonRequest(server.url, 'B'));
    expect(server.connections).toBe(connections);
    expect(server.bodies).toEqual(['"A"', '"B"']);
  });

  test('is not repeated after a timeout', async () => {
    vi.stubEnv('MINUTE', '600');
    const server = await rawServer();
    await post(jsonRequest(server.url, 'A'));
    server.respond = () => undefined;
    await expect(post(jsonRequest(server.url, 'B'))).rejects.toMatchObject({ reason: 'timeout' });
    await expect.poll(() => server.open).toBe(0);
    server.respond = noContent;
    await post(jsonRequest(server.url, 'C'));
    expect(server.bodies).toEqual(['"A"', '"B"', '"C"']);
  });

  test('shares one time limit with its repeat on a new connection', async () => {
    const server = await rawServer();
    await post(jsonRequest(server.url, 'A'));
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    server.respond = ({ socket, place }) => {
      vi.advanceTimersByTime(place === 2 ? 6_000 : 4_000);
      if (place === 2) socket.resetAndDestroy();
    };
    await expect(post(jsonRequest(server.url, 'B'))).rejects.toMatchObject({ reason: 'timeout' });
    expect(server.bodies).toEqual(['"A"', '"B"', '"B"']);
  });
});

describe('a signed request', () => {
  const SECRET = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
  const document = { text: 'Zoë 😀', nothing: undefined };

  test('passes the verification of Standard Webhooks for exactly its bytes', async () => {
    destination.answers = [204];
    await post(signed(destination.url, [SECRET], 'id-1', document));
    const [call] = destination.calls;
    if (call === undefined) throw new Error('There was no call.');
    expect(new Webhook(SECRET).verify(call.body, call.headers as Record<string, string>)).toEqual({
      text: 'Zoë 😀',
    });
    expect(call.headers).toMatchObject({
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(call.body)),
      'webhook-id': 'id-1',
    });
    const other = new Webhook(Buffer.alloc(24, 8).toString('base64'));
    expect(() => other.verify(call.body, call.headers as Record<string, string>)).toThrow('No matching signature');
  });

  test('with several secrets, has a signature by each, in their order, and is valid for each of them', () => {
    // The signatures are of one second.
    vi.useFakeTimers({ toFake: ['Date'] });
    const other = `whsec_${Buffer.alloc(24, 8).toString('base64')}`;
    const { headers, body } = signed('https://a.example.com/', [SECRET, other, SECRET], 'id-1', document);
    for (const secret of [SECRET, other]) expect(new Webhook(secret).verify(body, headers)).toEqual({ text: 'Zoë 😀' });
    const signatures = [SECRET, other].map(
      (secret) => signed('https://a.example.com/', [secret], 'id-1', document).headers['webhook-signature'],
    );
    expect(headers['webhook-signature']).toBe(signatures.join(' '));
    const stranger = new Webhook(Buffer.alloc(24, 9).toString('base64'));
    expect(() => stranger.verify(body, headers)).toThrow('No matching signature');
  });

  test('keeps its id when repeated, and has the time of its attempt', () => {
    vi.useFakeTimers({ now: Date.UTC(2030, 0, 1) + 999 });
    const first = signed('https://a.example.com/', [SECRET], 'id-1', document);
    vi.setSystemTime(Date.UTC(2030, 0, 1, 6));
    const again = signed('https://a.example.com/', [SECRET], 'id-1', document);
    expect(first.headers).toMatchObject({ 'webhook-id': 'id-1', 'webhook-timestamp': '1893456000' });
    expect(again.headers).toMatchObject({ 'webhook-id': 'id-1', 'webhook-timestamp': '1893477600' });
    expect(again.body).toBe(first.body);
    expect(new Webhook(SECRET).verify(again.body, again.headers)).toEqual({ text: 'Zoë 😀' });
  });
});
