/**
 * Attempts to servers that break HTTP, stall or reset connections: each ends in time with the right result.
 *
 * @module-tag long
 */
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { request as attempt } from '../../../shared/delivery/attempt.ts';
import type { AttemptResult } from '../../../shared/destinations/attempt-result.ts';
import { jsonRequest } from '../../../shared/destinations/http/request.ts';
import type { Entry } from '../../../shared/outbox/event.ts';
import {
  noContent,
  RawServer,
  type Respond,
  trickle,
  write,
  writeThenClose,
  writeThenReset,
} from '../support/raw-server.ts';

/** The time limit of an attempt in milliseconds, which only responses that never end use up: on busy machines, others take long. */
const LIMIT_MS = { untilTimeout: 300, ample: 3_000 };

const limitAttempts = (ms: number): void => void vi.stubEnv('MINUTE', String(ms * 6));

let server: RawServer;

beforeEach(async () => {
  surplus = undefined;
  vi.stubEnv('ALLOW_LOOPBACK', 'true');
  limitAttempts(LIMIT_MS.ample);
  server = await RawServer.start();
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await server.close();
});

const entry: Entry = {
  pk: 'OUTBOX#platform#acme#27821234567',
  sk: 'ENTRY#entry-1',
  id: 'entry-1',
  created: '2030-01-01T00:00:00.000123',
  outgoing: {
    type: 'user_data.completed',
    request: { id: 'request-1', account: 'acme', phone: '27821234567' },
    completed: '2030-01-01T00:00:00.000123',
  },
};

const attemptWith = (body: string): Promise<AttemptResult> =>
  attempt({ name: 'platform#acme', buildRequest: () => jsonRequest(server.url, body) }, entry);

const delivered: AttemptResult = { status: 'delivered' };
const retry = (cause: string): AttemptResult => ({ status: 'retry', cause });
const rejected = (status: number): AttemptResult => ({ status: 'rejected', cause: `status_${status}` });

const OK = 'HTTP/1.1 200 OK\r\n';
const chunked = `${OK}Transfer-Encoding: chunked\r\n\r\n`;
const ofLength = (length: number | string) => `${OK}Content-Length: ${length}\r\n\r\n`;
const headers = (count: number, length: number) =>
  Array.from({ length: count }, (_, index) => `Set-Cookie: c${index}=${'x'.repeat(length)}\r\n`).join('');
const gzip = gzipSync('Hello').toString('latin1');

interface Case {
  respond: Respond;
  result: AttemptResult;
  /** Number of requests to the server if the connection was used before. Default: 1. */
  onKeptConnection?: number;
}

/** Fulfilled when the surplus bytes of a case that sends them later have arrived. */
let surplus: Promise<void> | undefined;

const CASES: Record<string, Case> = {
  // Other protocols.
  'a switch of protocols': {
    respond: write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'),
    result: retry('status_101'),
  },
  'a switch of protocols without the new protocol': {
    respond: write('HTTP/1.1 101 Switching Protocols\r\n\r\n'),
    result: retry('status_101'),
  },
  'a switch of protocols with bytes of the new protocol': {
    respond: write(
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\nPRI * HTTP/2.0\r\n\r\n',
    ),
    result: retry('status_101'),
  },
  'a status 200 with an Upgrade header': {
    respond: write(`${OK}Upgrade: h2c\r\nConnection: Upgrade\r\nContent-Length: 0\r\n\r\n`),
    result: delivered,
  },
  'a body alone, as in HTTP/0.9': { respond: writeThenClose('<p>Hello</p>'), result: retry('invalid_response') },
  'another protocol': { respond: writeThenClose('220 mail.example.com ESMTP\r\n'), result: retry('invalid_response') },
  // Informational responses.
  'an informational response before the final one': {
    respond: write('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n'),
    result: delivered,
  },
  'an unrequested "continue" before the final response': {
    respond: write('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 422 No\r\nContent-Length: 0\r\n\r\n'),
    result: rejected(422),
  },
  'endless informational responses': {
    respond: trickle('', 'HTTP/1.1 102 Processing\r\n\r\n'),
    result: retry('timeout'),
  },
  // Stalled responses.
  'no byte': { respond: () => undefined, result: retry('timeout') },
  'a status line a byte at a time': { respond: trickle('HTTP/1.1 20', '0'), result: retry('invalid_response') },
  'headers a byte at a time': { respond: trickle(`${OK}X-Long: `, 'x'), result: retry('timeout') },
  'a head without its final empty line': { respond: write(`${OK}Content-Length: 0\r\n`), result: retry('timeout') },
  'a body a byte at a time': { respond: trickle(ofLength(1_000_000), 'x'), result: delivered },
  'a body that never arrives': { respond: write(ofLength(100)), result: delivered },
  'endless chunks': { respond: trickle(chunked, '1\r\nx\r\n'), result: delivered },
  'an endless body in large pieces': { respond: trickle(`${OK}\r\n`, 'x'.repeat(20_000)), result: delivered },
  'an error with an endless body': {
    respond: trickle('HTTP/1.1 500 Oops\r\n\r\n', 'x'),
    result: retry('status_500'),
  },
  'a rejection with an endless body': { respond: trickle('HTTP/1.1 400 Bad\r\n\r\n', 'x'), result: rejected(400) },
  // Heads that are not valid HTTP.
  'headers over 16 KB': {
    respond: write(`${OK}X-Long: ${'x'.repeat(20_000)}\r\n\r\n`),
    result: retry('invalid_response'),
  },
  'endless headers': { respond: trickle(OK, headers(10, 100)), result: retry('invalid_response') },
  'thousands of cookies': { respond: write(`${OK}${headers(5_000, 1)}\r\n`), result: retry('invalid_response') },
  'cookies just within the limit': {
    respond: write(`${OK}${headers(500, 1)}Content-Length: 0\r\n\r\n`),
    result: delivered,
  },
  'a status of two digits': { respond: write('HTTP/1.1 20 OK\r\n\r\n'), result: retry('invalid_response') },
  'a status of four digits': { respond: write('HTTP/1.1 2000 OK\r\n\r\n'), result: retry('invalid_response') },
  'a status of letters': { respond: write('HTTP/1.1 abc OK\r\n\r\n'), result: retry('invalid_response') },
  'a negative status': { respond: write('HTTP/1.1 -200 OK\r\n\r\n'), result: retry('invalid_response') },
  'two different content lengths': {
    respond: write(`${OK}Content-Length: 0\r\nContent-Length: 5\r\n\r\n`),
    result: retry('invalid_response'),
  },
  'a content length that is not a number': { respond: write(ofLength('x')), result: retry('invalid_response') },
  'a negative content length': { respond: write(ofLength(-1)), result: retry('invalid_response') },
  'a huge content length': { respond: write(ofLength('9'.repeat(30))), result: retry('invalid_response') },
  'a content length beside chunks': {
    respond: write(`${OK}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`),
    result: retry('invalid_response'),
  },
  'a header with a NUL': { respond: write(`${OK}X-A: a\0b\r\n\r\n`), result: retry('invalid_response') },
  'an unknown version': { respond: write('HTTP/9.9 200 OK\r\n\r\n'), result: retry('invalid_response') },
  // Statuses.
  'status 099': { respond: write('HTTP/1.1 099 Odd\r\nContent-Length: 0\r\n\r\n'), result: retry('status_99') },
  'status 000': { respond: write('HTTP/1.1 000 Odd\r\nContent-Length: 0\r\n\r\n'), result: retry('status_0') },
  'status 600': { respond: write('HTTP/1.1 600 Odd\r\nContent-Length: 0\r\n\r\n'), result: retry('status_600') },
  'status 999': { respond: write('HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n'), result: retry('status_999') },
  'status 304': {
    respond: write('HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n'),
    result: retry('status_304'),
  },
  'HTTP/1.0': { respond: writeThenClose('HTTP/1.0 200 OK\r\n\r\nHello'), result: delivered },
  'a redirect to itself': {
    respond: ({ socket }) =>
      void socket.write(`HTTP/1.1 307 Again\r\nLocation: ${server.url}\r\nContent-Length: 0\r\n\r\n`),
    result: retry('status_307'),
  },
  'a redirect without a location': {
    respond: write('HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n'),
    result: retry('status_302'),
  },
  // Surplus bytes after a complete response.
  'a 204 with a body': { respond: write('HTTP/1.1 204 No Content\r\n\r\n{"ok":true}'), result: delivered },
  'a 204 with a content length and a body': {
    respond: write('HTTP/1.1 204 No Content\r\nContent-Length: 11\r\n\r\n{"ok":true}'),
    result: delivered,
  },
  'a 204 with chunks': {
    respond: write('HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n'),
    result: delivered,
  },
  'a 200 with too short a content length': { respond: write(`${ofLength(2)}{"ok":true}`), result: delivered },
  'a 200 with surplus bytes, on a connection that closes': {
    respond: write(`${OK}Connection: close\r\nContent-Length: 2\r\n\r\n{"ok":true}`),
    result: delivered,
  },
  'a 200 with surplus bytes that arrive later': {
    respond: ({ socket }) => {
      socket.write(ofLength(0));
      surplus = pause(10).then(async () => {
        socket.write('surplus');
        // The client receives it in one of the next rounds of the event loop of this process.
        await pause(20);
      });
    },
    result: delivered,
  },
  'a second, unrequested response': {
    respond: write(`${ofLength(0)}HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n`),
    result: delivered,
  },
  'a 400 with surplus bytes': {
    respond: write('HTTP/1.1 400 Bad\r\nContent-Length: 2\r\n\r\n{"no":true}'),
    result: rejected(400),
  },
  'a 500 with surplus bytes': {
    respond: write('HTTP/1.1 500 Oops\r\nContent-Length: 2\r\n\r\n{"no":true}'),
    result: retry('status_500'),
  },
  // Broken bodies.
  'a body that is too short, then a close': { respond: writeThenClose(`${ofLength(100)}part`), result: delivered },
  'a body that is too short, then a reset': { respond: writeThenReset(`${ofLength(100)}part`), result: delivered },
  'invalid chunks': { respond: write(`${chunked}nonsense\r\n`), result: delivered },
  'chunks that break off': { respond: writeThenClose(`${chunked}5\r\nHe`), result: delivered },
  'a huge chunk': { respond: write(`${chunked}${'f'.repeat(20)}\r\n`), result: delivered },
  'a compressed body': {
    respond: write(`${OK}Content-Encoding: gzip\r\nContent-Length: ${gzip.length}\r\n\r\n${gzip}`),
    result: delivered,
  },
  'a body marked as compressed that is not': {
    respond: write(`${OK}Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\nHello`),
    result: delivered,
  },
  'a large body': { respond: writeThenClose(`${ofLength(5_000_000)}${'x'.repeat(5_000_000)}`), result: delivered },
  // Connections that end before the end of the head.
  'a reset at once': { respond: writeThenReset(''), result: retry('no_connection'), onKeptConnection: 2 },
  'a close at once': { respond: writeThenClose(''), result: retry('no_connection'), onKeptConnection: 2 },
  'a reset within the status line': { respond: writeThenReset('HTTP/1.1 20'), result: retry('no_connection') },
  'a reset within the headers': { respond: writeThenReset(`${OK}Content-Le`), result: retry('no_connection') },
  'a close within the headers': { respond: writeThenClose(`${OK}Content-Le`), result: retry('no_connection') },
  'a reset after an informational response': {
    respond: writeThenReset('HTTP/1.1 103 Early Hints\r\n\r\n'),
    result: retry('no_connection'),
  },
};

describe.each(Object.entries(CASES))('a response of %s', (what, { respond, result, onKeptConnection = 1 }) => {
  // Most cases whose attempt ends by its time limit are long.
  const isQuick = what === 'no byte' || result.status !== 'retry' || result.cause !== 'timeout';
  const options = isQuick ? {} : { tags: ['long' as const] };

  /** Attempts an entry while the server responds as in this case. */
  const attemptHere = async (body: string): Promise<AttemptResult> => {
    server.respond = respond;
    if (result.status === 'retry' && result.cause === 'timeout') limitAttempts(LIMIT_MS.untilTimeout);
    const ended = await attemptWith(body);
    limitAttempts(LIMIT_MS.ample);
    return ended;
  };

  test('ends the attempt in time with the right result, and the next attempt succeeds', options, async () => {
    expect(await attemptHere('first')).toStrictEqual(result);
    await surplus;
    server.respond = noContent;
    expect(await attemptWith('next')).toStrictEqual(delivered);
    expect(server.bodies).toEqual(['"first"', '"next"']);
  });

  test(
    'on a used connection, ends the attempt in time, and repeats the request only if the connection ended before any byte',
    options,
    async () => {
      server.respond = noContent;
      await attemptWith('A');
      expect(await attemptHere('B')).toStrictEqual(result);
      await surplus;
      server.respond = noContent;
      expect(await attemptWith('C')).toStrictEqual(delivered);
      expect(server.bodies).toEqual(['"A"', ...Array.from({ length: onKeptConnection }, () => '"B"'), '"C"']);
    },
  );
});
