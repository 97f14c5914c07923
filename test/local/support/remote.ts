/** Functions of a small stack that pass their events to handlers in the test, and return the handlers' results. */
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { closeServer, listenOnLoopback } from '../../../infra/local/aws/loopback.ts';

/** Handles an event. If the handler throws, the function fails. */
type Handler = (event: never) => unknown;

export interface Remote {
  /** The source of a module whose function calls the handler of this name. */
  source(name: string): string;
  /** Sets the handler of this name. Without a handler, the function returns null. */
  setHandler(name: string, handler: Handler): void;
  close(): Promise<void>;
}

export const openRemote = async (): Promise<Remote> => {
  const handlers = new Map<string, Handler>();
  const server = createServer(async (request, response) => {
    try {
      const handler = handlers.get(request.url?.slice(1) ?? '');
      const answer = await handler?.((await json(request)) as never);
      response.end(JSON.stringify(answer ?? null));
    } catch {
      response.writeHead(500).end();
    }
  });
  const url = await listenOnLoopback(server, 0);
  return {
    source: (name) => `export const handler = async (event) => {
  const response = await fetch('${url}/${name}', { method: 'POST', body: JSON.stringify(event) });
  if (!response.ok) throw new Error('The test has it fail.');
  return response.json();
}`,
    setHandler: (name, handler) => void handlers.set(name, handler),
    close: () => closeServer(server),
  };
};
