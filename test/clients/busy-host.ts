/** A host in front of a stack, for programs that list jobs: busy at first, with short pages, and one job that is gone. */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { listenOnLoopback } from '../../infra/local/aws/loopback.ts';

/** Jobs on a page. */
const LIMIT = '2';

export interface BusyHost {
  url: string;
  /** Requests that came less than `Retry-After` seconds after it was refused. A program should make none. */
  readonly tooSoon: number;
  close: () => void;
}

/** @param gone - the job that the host replaces by an unknown one */
export const startBusyHost = async (stack: string, gone: string): Promise<BusyHost> => {
  let [freeAt, tooSoon] = [0, 0];
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', stack);
    if (Date.now() < freeAt || freeAt === 0) {
      if (freeAt !== 0) tooSoon += 1;
      freeAt = Date.now() + 1_000;
      response.writeHead(429, { 'retry-after': '1', 'content-type': 'application/problem+json' });
      response.end(JSON.stringify({ code: 'rate_limited' }));
      return;
    }
    const target = new URL(pathname.replace(gone, randomUUID()), stack);
    target.search = searchParams.toString();
    if (pathname === '/v1/jobs') target.searchParams.set('limit', LIMIT);
    const answer = await fetch(target, { headers: { authorization: request.headers.authorization ?? '' } });
    response.writeHead(answer.status, {
      'content-type': answer.headers.get('content-type') ?? '',
      ...(answer.headers.has('link') && { link: answer.headers.get('link') ?? '' }),
    });
    response.end(await answer.bytes());
  });
  return {
    url: await listenOnLoopback(server, 0),
    get tooSoon() {
      return tooSoon;
    },
    close: () => server.close(),
  };
};
