/** Functions of a small stack whose work the test does itself: they hand it their events, and answer what it answers. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

/** What a function does with an event; where it throws, so does the function. */
type Behaviour = (event: never) => unknown;

export interface Remote {
  /** A module whose function does what the behaviour of this name says. */
  source(name: string): string;
  /** Has the function of this name behave so from now on; until then it answers nothing. */
  behave(name: string, behaviour: Behaviour): void;
  close(): Promise<void>;
}

export const openRemote = async (): Promise<Remote> => {
  const behaviours = new Map<string, Behaviour>();
  const server = createServer(async (request, response) => {
    try {
      const behaviour = behaviours.get(request.url?.slice(1) ?? '');
      const answer = await behaviour?.((await json(request)) as never);
      response.end(JSON.stringify(answer ?? null));
    } catch {
      response.writeHead(500).end();
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    source: (name) => `export const handler = async (event) => {
  const response = await fetch('${url}/${name}', { method: 'POST', body: JSON.stringify(event) });
  if (!response.ok) throw new Error('The test has it fail.');
  return response.json();
}`,
    behave: (name, behaviour) => void behaviours.set(name, behaviour),
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
};
