/**
 * Buckets on this machine: the package s3rver, which accepts the functions' credentials, behind a guard. The guard
 * checks every call against the role of the calling function.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from '@20minutes/s3rver';
import AwsAccount from '@20minutes/s3rver/lib/models/account.js';
import { callerOf, OPERATOR, type Roles } from './iam/roles.ts';
import { bodyOf, closeServer, listenOnLoopback } from './loopback.ts';
import type { Template } from './template/definitions.ts';

const ACTIONS: Record<string, string> = {
  PUT: 'PutObject',
  GET: 'GetObject',
  HEAD: 'GetObject',
  DELETE: 'DeleteObject',
};

export class Buckets {
  readonly #roles: Roles;
  readonly #folder: string;
  readonly #isKept: boolean;
  readonly #store: S3rver;
  readonly #guard: Server;
  #port = 0;

  private constructor(roles: Roles, folder: string, isKept: boolean) {
    this.#roles = roles;
    this.#folder = folder;
    this.#isKept = isKept;
    this.#store = new S3rver({ address: '127.0.0.1', port: 0, silent: true, directory: folder });
    this.#guard = createServer((incoming, outgoing) => void this.#handle(incoming, outgoing));
  }

  /** Stores objects in `dataFolder`; by default in a temporary folder, which `close` deletes. */
  static async open(roles: Roles, dataFolder?: string): Promise<Buckets> {
    const folder = dataFolder === undefined ? await mkdtemp(join(tmpdir(), 'buckets-')) : join(dataFolder, 'buckets');
    await mkdir(folder, { recursive: true });
    const buckets = new Buckets(roles, folder, dataFolder !== undefined);
    ({ port: buckets.#port } = (await buckets.#store.run()) as AddressInfo);
    return buckets;
  }

  /** Listens on a free port. Returns the URL. */
  listen(): Promise<string> {
    return listenOnLoopback(this.#guard, 0);
  }

  /** Creates these buckets, and accepts the credentials of these functions. */
  async serve({ buckets, functions }: Pick<Template, 'buckets' | 'functions'>): Promise<void> {
    for (const id of [...functions.map(({ id }) => id), OPERATOR]) AwsAccount.DUMMY_ACCOUNT.createKeyPair(id, 'local');
    for (const { name } of buckets) await this.#store.store.putBucket(name);
  }

  async close(): Promise<void> {
    await closeServer(this.#guard);
    await this.#store.close();
    if (!this.#isKept) await rm(this.#folder, { recursive: true, force: true });
  }

  async #handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    try {
      const body = await bodyOf(incoming);
      const caller = callerOf(incoming.headers);
      const touch = {
        action: `s3:${ACTIONS[incoming.method ?? '']}`,
        resource: `arn:aws:s3:::${incoming.url?.slice(1)}`,
      };
      if (caller !== OPERATOR && this.#roles.denialOf(caller, [touch]) !== undefined) deny(outgoing);
      else this.#forward(incoming, body, outgoing);
    } catch {
      outgoing.destroy();
    }
  }

  /** Forwards the original headers, so that the signature stays valid. */
  #forward({ method, url, headers }: IncomingMessage, body: Buffer, outgoing: ServerResponse): void {
    const call = request({ host: '127.0.0.1', port: this.#port, method, path: url, headers }, (response) => {
      outgoing.writeHead(response.statusCode ?? 500, response.headers);
      response.pipe(outgoing);
    });
    call.once('error', () => outgoing.destroy());
    call.end(body);
  }
}

const deny = (outgoing: ServerResponse): void => {
  outgoing.writeHead(403, { 'content-type': 'application/xml' });
  outgoing.end(
    '<?xml version="1.0" encoding="UTF-8"?><Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>',
  );
};
