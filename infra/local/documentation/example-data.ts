/**
 * What the examples of the API description name, on the local stack: so each operation works as it is when somebody tries it
 * out. Nothing is made before. Ids are the same after each start, except those of media.
 */
import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { portalCodeItem } from '../../../shared/accounts/portal-codes.ts';
import { placeholders } from '../../../shared/api/placeholders.ts';
import { now } from '../../../shared/core/clock.ts';
import { newId } from '../../../shared/core/ids.ts';
import { attemptIdOf } from '../../../shared/delivery/entities.ts';
import { answerableKey, profilerKey } from '../../../shared/profilers/entities.ts';
import { getConsistent, putAll } from '../../../shared/table/client.ts';
import { type Demo, type DemoBot, PANELIST_ID } from '../demo.ts';
import { exampleDelivery } from './example-delivery.ts';

interface Service {
  account: Pick<DemoBot, 'id' | 'name'>;
  baseUrl: string;
  bridgeUrl: string;
  demo: Pick<Demo, 'token' | 'app_token' | 'bot_phone_number' | 'panelist'>;
}

/** The job that may be cancelled, and the profiler that may be deleted. */
const JOB_TO_CANCEL = '019a9f5e-2c11-7d3a-9a51-6f0a7c3e8b11';
const PROFILER_TO_DELETE = '019a9f5e-2c12-7c55-8d1e-0b6f3c2a9d42';
/** The idempotency key of all requests: a later start of the stack with the same table repeats them. */
const KEY = 'documentation';

/** Makes what a placeholder stands for. Returns its value. */
type Maker = () => Promise<string>;

export class Examples {
  readonly #service: Service;
  /** What needs to be made once. */
  readonly #made = new Map<string, Promise<string>>();

  constructor(service: Service) {
    this.#service = service;
  }

  /**
   * Texts of a request in which placeholders are replaced by values of this stack. Makes what they stand for, also again after
   * an operation has ended it.
   *
   * @param operation - the id of the operation that the request is for: what it ends must not be what others need
   * @throws Error — the stack refuses to make something
   */
  async resolve(operation: string, texts: string[]): Promise<string[]> {
    await this.#needs[operation]?.();
    const all = texts.join('\n');
    const values = new Map<string, string>();
    // One after the other: a busy machine starts few functions at the same time.
    for (const [placeholder, make] of Object.entries({ ...this.#makers, ...this.#ofOperations[operation] })) {
      if (all.includes(placeholder)) values.set(placeholder, await make());
    }
    return texts.map((text) => [...values].reduce((own, [from, to]) => own.replaceAll(from, to), text));
  }

  /** By placeholder. */
  readonly #makers: Record<string, Maker> = {
    [placeholders.user]: async () => this.#service.demo.panelist,
    [placeholders.userId]: async () => PANELIST_ID,
    [placeholders.bot]: async () => this.#service.demo.bot_phone_number,
    [placeholders.encodedToken]: async () => Buffer.from(this.#service.demo.token).toString('base64url'),
    [placeholders.day]: async () => new Date(now()).toISOString().slice(0, 10),
    // A request renames the account: to its own name.
    [placeholders.name]: async () => this.#service.account.name,
    [placeholders.message]: () => this.#once('message', () => this.#message()),
    [placeholders.request]: () => this.#once('request', () => this.#requestData('device_platform')),
    [placeholders.delivery]: () => this.#once('delivery', () => this.#delivery()),
    [lastSegment(placeholders.media)]: () => this.#once('media', () => this.#upload()),
    [placeholders.profiler]: () => this.#profiler(placeholders.profiler),
    [placeholders.code]: () => this.#code(),
    [placeholders.madeToken]: () => this.#once('token to rotate', () => this.#newToken()),
    [placeholders.newerToken]: () => this.#once('token to revoke', () => this.#newToken()),
  };

  /** By the operation that ends what the placeholder stands for. */
  readonly #ofOperations: Record<string, Record<string, Maker>> = {
    deleteProfiler: { [placeholders.profiler]: () => this.#profiler(PROFILER_TO_DELETE) },
    cancelJob: { [placeholders.job]: () => this.#once('job', () => this.#openJob()) },
    acknowledgeDeletion: { [placeholders.request]: () => this.#once('ended request', () => this.#endedRequest()) },
  };

  /** What operations need besides what their examples name. */
  readonly #needs: Record<string, () => Promise<unknown>> = {
    readJob: () => this.#once('message', () => this.#message()),
    exportJobLog: () => this.#once('message', () => this.#message()),
    retrieveUserData: () => this.#once('request', () => this.#requestData('device_platform')),
    readAvatar: () => this.#avatar(),
  };

  /** Makes something at the first call, and at the next one if that failed. */
  #once(name: string, make: Maker): Promise<string> {
    const made = this.#made.get(name) ?? make();
    this.#made.set(name, made);
    made.catch(() => this.#made.delete(name));
    return made;
  }

  /** A message in the job of the examples. Returns its id. */
  async #message(): Promise<string> {
    const body = { to: this.#service.demo.panelist, type: 'text', text: { body: TEXT } };
    return (await this.#post('/v1/message', body, { job_id: placeholders.job })).id;
  }

  async #delivery(): Promise<string> {
    const delivery = exampleDelivery(this.#service.account.id, this.#service.demo.panelist);
    await putAll([delivery]);
    return attemptIdOf(delivery);
  }

  /** A profiler with this id, also after somebody deleted it. */
  async #profiler(id: string): Promise<string> {
    const { account } = this.#service;
    const key = profilerKey(account.id, id);
    const present = await getConsistent<{ deleted_at?: string }>(key);
    if (present !== undefined && present.deleted_at === undefined) return id;
    const options = [
      { id: placeholders.tea, option: 'tea' },
      { id: placeholders.coffee, option: 'coffee' },
    ];
    const question = 'What do you drink in the morning?';
    const created_at = '2026-11-20T09:58:09.118000';
    await putAll([
      { ...key, id, question, options, created_at, request: KEY },
      { ...answerableKey(account.id, id), options: options.length, created_at },
    ]);
    return id;
  }

  /** The code of the portal of the examples, also after somebody used it. */
  async #code(): Promise<string> {
    const { id: account } = this.#service.account;
    await putAll([portalCodeItem(placeholders.code, { account, label: 'documentation', permissions: ['stats'] })]);
    return placeholders.code;
  }

  /** Asks for a property that needs no approval. Returns the id of the completed request. */
  async #requestData(property: string): Promise<string> {
    const body = { reason: 'An example of the documentation', data: [{ property }] };
    const path = `/v1/user_data/start/${this.#service.demo.panelist}`;
    const { requestId } = await this.#post(path, body, {}, `${KEY} ${property}`);
    return requestId;
  }

  /** A token that may be replaced or revoked. Returns its id. */
  async #newToken(): Promise<string> {
    const body = { label: 'documentation', permissions: ['stats'], expires: Math.floor(now() / 1_000) + 86_400 };
    return (await this.#post('/v1/tokens', body, {})).id;
  }

  /** A request whose consent has ended. */
  async #endedRequest(): Promise<string> {
    const { bridgeUrl, demo } = this.#service;
    const id = await this.#requestData('app_version');
    const event = { id: newId(), type: 'user_data.withdrawn', data: { id, properties: ['app_version'] } };
    await called(`${bridgeUrl}/v1/app/events`, {
      method: 'POST',
      headers: { authorization: `Bearer ${demo.app_token}`, 'content-type': 'application/json' },
      body: JSON.stringify(event),
    });
    return id;
  }

  /**
   * A job of a message that is sent in a month, so that no phone shows it. The job may have been cancelled before. Returns its
   * id.
   */
  async #openJob(): Promise<string> {
    const { baseUrl, demo } = this.#service;
    const send_at = Math.floor(now() / 1_000) + 30 * 86_400;
    const response = await responseOf(`${baseUrl}/v1/message?job_id=${JOB_TO_CANCEL}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${demo.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ to: demo.panelist, type: 'text', text: { body: TEXT }, send_at }),
    });
    if (!response.ok && response.status !== 409) throw new Error(`There is no job to cancel: ${response.status}.`);
    return JOB_TO_CANCEL;
  }

  /** Uploads a picture. Returns the last segment of its URL. */
  async #upload(): Promise<string> {
    const { baseUrl } = this.#service;
    const uploaded = await called(`${baseUrl}/v1/upload_image`, { method: 'POST', ...(await this.#picture()) });
    const { url } = (await uploaded.json()) as { url: string };
    return lastSegment(url);
  }

  /** Sets an avatar if there is none. */
  async #avatar(): Promise<void> {
    const avatar = `${this.#service.baseUrl}/v1/avatar`;
    const { headers, body } = await this.#picture();
    const { status } = await responseOf(avatar, { headers });
    if (status === 404) await called(avatar, { method: 'PUT', headers, body });
  }

  async #picture(): Promise<{ headers: Record<string, string>; body: FormData }> {
    const body = new FormData();
    body.append('file', new File([await readFile(new URL('../phone/picture.png', import.meta.url))], 'picture.png'));
    return { headers: { authorization: `Bearer ${this.#service.demo.token}` }, body };
  }

  async #post(
    path: string,
    body: object,
    query: Record<string, string>,
    key = KEY,
  ): Promise<Record<'id' | 'requestId', string>> {
    const { baseUrl, demo } = this.#service;
    const response = await called(`${baseUrl}${path}?${new URLSearchParams(query)}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${demo.token}`,
        'content-type': 'application/json',
        'idempotency-key': key,
      },
      body: JSON.stringify(body),
    });
    return (await response.json()) as Record<'id' | 'requestId', string>;
  }
}

const TEXT = 'The examples of the documentation refer to this message.';

/** Milliseconds between two attempts, and how many there are. */
const PAUSE = 500;
const ATTEMPTS = 5;

/** A response other than 5xx, after a few attempts: a function may start slowly on a busy machine. */
const responseOf = async (url: string, init: RequestInit, attempt = 1): Promise<Response> => {
  const response = await fetch(url, init);
  if (response.status < 500 || attempt === ATTEMPTS) return response;
  await pause(PAUSE * attempt);
  return responseOf(url, init, attempt + 1);
};

const called = async (url: string, init: RequestInit): Promise<Response> => {
  const response = await responseOf(url, init);
  if (!response.ok) throw new Error(`The examples cannot be made: ${init.method} ${url} returned ${response.status}.`);
  return response;
};

const lastSegment = (url: string): string => url.replace(/.*\//, '');
