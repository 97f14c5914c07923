/** Connections to servers outside that are kept for later requests, while they are young. */
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Duplex } from 'node:stream';
import { now } from '../core/clock.ts';

/**
 * Milliseconds after which an idle connection is closed instead of used. A function is frozen between invocations, so that
 * its timers do not run, and a gateway on the way may have dropped the connection silently.
 */
const MAX_IDLE_MS = 30_000;

const idleSince = new WeakMap<Duplex, number>();

const timed = <Agent extends HttpAgent>(agent: Agent): Agent => {
  const keepSocketAlive = agent.keepSocketAlive.bind(agent);
  agent.keepSocketAlive = (socket) => {
    idleSince.set(socket, now());
    return keepSocketAlive(socket);
  };
  return agent;
};

const agents = {
  'http:': timed(new HttpAgent({ keepAlive: true })),
  'https:': timed(new HttpsAgent({ keepAlive: true })),
};

/** The connections that are kept for a protocol. Closes those that were idle for more than 30 s. */
export const keptConnections = (protocol: 'http:' | 'https:'): HttpAgent => {
  const agent = agents[protocol];
  const oldest = now() - MAX_IDLE_MS;
  for (const socket of Object.values(agent.freeSockets).flatMap((sockets) => sockets ?? [])) {
    if ((idleSince.get(socket) ?? 0) < oldest) socket.destroy();
  }
  return agent;
};
