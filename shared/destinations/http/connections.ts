/** Connections to destinations: they are kept for later requests while they are recent. */
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Duplex } from 'node:stream';
import { now } from '../../core/clock.ts';

/**
 * Milliseconds after which an idle connection is closed instead of reused: a gateway between may have dropped it
 * silently. Timers cannot close it, because the function is frozen between invocations.
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
