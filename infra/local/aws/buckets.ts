/**
 * Buckets on this machine: each object is a file. Every call needs a valid signature, and is checked against the role of
 * the calling function.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Sha256 } from '@smithy/core/checksum';
import { SignatureV4 } from '@smithy/signature-v4';
import { callerOf, OPERATOR, type Roles } from './iam/roles.ts';
import { bodyOf, closeServer, listenOnLoopback } from './loopback.ts';
import type { Template } from './template/definitions.ts';

const ACTIONS: Record<string, string> = {
  PUT: 'PutObject',
  GET: 'GetObject',
  HEAD: 'GetObject',
  DELETE: 'DeleteObject',
};

/** A response; `content` is the code of an error, or an object's bytes. */
interface BucketResponse {
  status: number;
  content?: string | Buffer;
}

export class Buckets {
  readonly #roles: Roles;
  readonly #folder: string;
  readonly #isKept: boolean;
  readonly #server: Server;
  #names: string[] = [];

  private constructor(roles: Roles, folder: string, isKept: boolean) {
    this.#roles = roles;
    this.#folder = folder;
    this.#isKept = isKept;
    this.#server = createServer((incoming, outgoing) => void this.#handle(incoming, outgoing));
  }

  /** Stores objects in `dataFolder`; by default in a temporary folder, which `close` deletes. */
  static async open(roles: Roles, dataFolder?: string): Promise<Buckets> {
    const folder = dataFolder === undefined ? await mkdtemp(join(tmpdir(), 'buckets-')) : join(dataFolder, 'buckets');
    await mkdir(folder, { recursive: true });
    return new Buckets(roles, folder, dataFolder !== undefined);
  }

  /** Listens on a free port. Returns the URL. */
  listen(): Promise<string> {
    return listenOnLoopback(this.#server, 0);
  }

  /** Creates these buckets. */
  async serve({ buckets }: Pick<Template, 'buckets'>): Promise<void> {
    this.#names = buckets.map(({ name }) => name);
    for (const name of this.#names) await mkdir(join(this.#folder, name), { recursive: true });
  }

  async close(): Promise<void> {
    await closeServer(this.#server);
    if (!this.#isKept) await rm(this.#folder, { recursive: true, force: true });
  }

  async #handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    try {
      const { status, content = '' } = await this.#respond(incoming, await bodyOf(incoming));
      outgoing.statusCode = status;
      outgoing.end(typeof content === 'string' && content !== '' ? `<Error><Code>${content}</Code></Error>` : content);
    } catch {
      outgoing.destroy();
    }
  }

  async #respond(incoming: IncomingMessage, body: Buffer): Promise<BucketResponse> {
    const { method = '', headers, url = '' } = incoming;
    const [, name = '', key = ''] = /^\/([^/]+)\/(.+)$/.exec(new URL(url, 'http://bucket').pathname) ?? [];
    const action = ACTIONS[method];
    if (action === undefined || key === '') return { status: 501, content: 'NotImplemented' };
    if (!(await isSigned(incoming))) return { status: 403, content: 'SignatureDoesNotMatch' };
    const caller = callerOf(headers);
    const touch = { action: `s3:${action}`, resource: `arn:aws:s3:::${name}/${key}` };
    if (caller !== OPERATOR && this.#roles.denialOf(caller, [touch]) !== undefined)
      return { status: 403, content: 'AccessDenied' };
    if (!this.#names.includes(name)) return { status: 404, content: 'NoSuchBucket' };
    const file = join(this.#folder, name, key.replaceAll('/', '%2F'));
    if (method === 'PUT') return this.#put(file, body, headers['x-amz-content-sha256']);
    if (method === 'DELETE') {
      await rm(file, { force: true });
      return { status: 204 };
    }
    const content = await readFile(file).catch(ifMissing);
    return content === undefined ? { status: 404, content: 'NoSuchKey' } : { status: 200, content };
  }

  async #put(file: string, body: Buffer, hash: string | string[] | undefined): Promise<BucketResponse> {
    if (hash !== createHash('sha256').update(body).digest('hex'))
      return { status: 400, content: 'XAmzContentSHA256Mismatch' };
    // Readers never see a part of an object.
    const part = join(this.#folder, randomUUID());
    await writeFile(part, body);
    await rename(part, file);
    return { status: 200 };
  }
}

/** Undefined for a file that does not exist. */
const ifMissing = (error: unknown): undefined => {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
  throw error;
};

/** How old or early a signature may be, in milliseconds. */
const SKEW_MS = 15 * 60_000;

/** Whether a call has the signature of its caller, whose secret key is `local`: signs it again, and compares. */
const isSigned = async ({ method = '', url = '', headers }: IncomingMessage): Promise<boolean> => {
  const { authorization = '' } = headers;
  const [, region = '', names = ''] =
    /\/\d{8}\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+),/.exec(authorization) ?? [];
  const time = String(headers['x-amz-date']).replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z');
  const signingDate = new Date(time);
  // The clock of the machine: signers use it, while that of the stack may be ahead.
  if (!(Math.abs(Date.now() - Date.parse(time)) < SKEW_MS)) return false;
  const signer = new SignatureV4({
    credentials: { accessKeyId: callerOf(headers), secretAccessKey: 'local' },
    service: 's3',
    region,
    sha256: Sha256,
    uriEscapePath: false,
  });
  const [path = '', query] = url.split('?');
  const signed = await signer.sign(
    {
      method,
      protocol: 'http:',
      hostname: '',
      path,
      query: Object.fromEntries(new URLSearchParams(query)),
      headers: Object.fromEntries(names.split(';').map((header) => [header, String(headers[header])])),
    },
    { signingDate },
  );
  return signed.headers.authorization === authorization;
};
