/** The ports of a local stack: who uses them, before anything is started or written. */
import { readdir, readFile, readlink } from 'node:fs/promises';
import { createServer } from 'node:http';
import { runningStacks } from '../../operator/local-stack/stack-file.ts';
import { closeServer, listenOnLoopback } from '../aws/loopback.ts';
import { StartError } from '../aws/start-error.ts';

/** Ports that a stack uses: PORT and the next ones. */
const PORTS = 5;

/** The highest number of a port. */
const HIGHEST = 65_535;
/** How far another stack's ports are away. */
const DISTANCE = 100;

/**
 * Checks that the ports of a stack are free.
 *
 * @throws StartError — one is taken; the message names the program, and what to do
 */
export const requireFreePorts = async (first: number): Promise<void> => {
  for (const port of portsFrom(first)) {
    if (!(await isFree(port))) throw new StartError(`${await takenBy(port)} ${await otherPorts(first)}`);
  }
};

const portsFrom = (first: number): number[] => Array.from({ length: PORTS }, (_, index) => first + index);

/** Another error than a taken port, such as a missing right, is reported when the stack listens. */
const isFree = async (port: number): Promise<boolean> => {
  const server = createServer();
  try {
    await listenOnLoopback(server, port);
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE');
  } finally {
    await closeServer(server);
  }
};

const takenBy = async (port: number): Promise<string> => {
  const [owner, stacks] = await Promise.all([ownerOf(port), runningStacks()]);
  const stack = stacks.find(({ pid, base_url }) => (owner === undefined ? isAmong(port, base_url) : owner.pid === pid));
  if (stack !== undefined) {
    return `A local stack is already running on port ${port}: process ${stack.pid}, ${stack.base_url}, with its phone at ${stack.phone_url}. It is unchanged: use it, or stop it with Ctrl-C in its terminal or "kill ${stack.pid}".`;
  }
  if (owner === undefined) return `Port ${port} is taken by another program: ${SEARCH(port)} shows which.`;
  const where = owner.folder === undefined ? '' : ` in ${owner.folder}`;
  return `Port ${port} is taken by the process ${owner.pid} (${owner.name}${where}).`;
};

const isAmong = (port: number, baseUrl: string): boolean => portsFrom(Number(new URL(baseUrl).port)).includes(port);

/** The command that shows who uses a port, on systems without /proc. */
const SEARCH = (port: number): string =>
  process.platform === 'win32' ? `"netstat -ano | findstr :${port}"` : `"lsof -nP -iTCP:${port} -sTCP:LISTEN"`;

const otherPorts = async (first: number): Promise<string> => {
  for (let port = first + DISTANCE; port + PORTS <= HIGHEST; port += DISTANCE) {
    const free = await Promise.all(portsFrom(port).map(isFree));
    if (free.every(Boolean)) return `Another stack can run beside it: PORT=${port} npm start.`;
  }
  return 'Set PORT to another one.';
};

interface Owner {
  pid: number;
  name: string;
  folder: string | undefined;
}

/** The state "listening" in Linux's table of sockets. */
const LISTENING = '0A';

/**
 * The process that listens on a port of this machine, on Linux. Undefined elsewhere, and for other users' processes.
 * Source: the manual pages proc_net(5) and proc_pid_fd(5).
 */
const ownerOf = async (port: number): Promise<Owner | undefined> => {
  const sockets = await socketsOn(port);
  if (sockets.length === 0) return undefined;
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    if (await holds(pid, sockets)) {
      const name = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => 'unknown');
      const folder = await readlink(`/proc/${pid}/cwd`).catch(() => undefined);
      return { pid: Number(pid), name: name.trim(), folder };
    }
  }
  return undefined;
};

/** The links of the sockets that listen on a port, as a process's file descriptors show them. */
const socketsOn = async (port: number): Promise<string[]> => {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  const tables = await Promise.all(
    ['tcp', 'tcp6'].map((name) => readFile(`/proc/net/${name}`, 'utf8').catch(() => '')),
  );
  return tables.flatMap((table) =>
    table.split('\n').flatMap((line) => {
      const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/);
      return local.endsWith(`:${hex}`) && state === LISTENING ? [`socket:[${inode}]`] : [];
    }),
  );
};

const holds = async (pid: string, sockets: string[]): Promise<boolean> => {
  const descriptors = await readdir(`/proc/${pid}/fd`).catch((): string[] => []);
  const links = await Promise.all(descriptors.map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => '')));
  return links.some((link) => sockets.includes(link));
};
