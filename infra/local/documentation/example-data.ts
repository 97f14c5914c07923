/**
 * What the examples of the API description name, on the local stack: so each operation of the reference works as it is.
 * Ids are the same after each start, except those of media.
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

/** Values for the examples. */
export interface ExampleData {
  /** Values for texts anywhere in the description. */
  texts: Map<string, string>;
  /** Values for the path of an operation, by its id: what it ends must not be what others need. */
  paths: Map<string, string>;
}

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

export class Examples {
  readonly #service: Service;
  #made: Promise<ExampleData> | undefined;

  constructor(service: Service) {
    this.#service = service;
  }

  /** Makes the data at the first call. Later calls restore what an operation has ended. */
  async ensure(): Promise<ExampleData> {
    this.#made ??= this.#make();
    try {
      const [made] = await Promise.all([this.#made, this.#restoreProfilers(), this.#restoreCode()]);
      return made;
    } catch (error) {
      // The next call tries again.
      this.#made = undefined;
      throw error;
    }
  }

  async #make(): Promise<ExampleData> {
    const { account, demo } = this.#service;
    const { panelist, bot_phone_number, token } = demo;
    // One after the other: a busy machine starts few functions at the same time.
    const sent = { to: panelist, type: 'text', text: { body: TEXT } };
    const message = await this.#post('/v1/message', sent, { job_id: placeholders.job });
    const completed = await this.#requestData('device_platform');
    const ended = await this.#endedRequest();
    const media = await this.#upload();
    await this.#openJobToCancel();
    const [rotated, revoked] = [await this.#newToken(), await this.#newToken()];
    const delivery = exampleDelivery(account.id, panelist);
    await putAll([delivery]);
    return {
      texts: new Map([
        [placeholders.user, panelist],
        [placeholders.userId, PANELIST_ID],
        [placeholders.bot, bot_phone_number],
        [placeholders.encodedToken, Buffer.from(token).toString('base64url')],
        [placeholders.day, new Date(now()).toISOString().slice(0, 10)],
        // A request renames the account: to its own name.
        [placeholders.name, account.name],
        [placeholders.message, message.id],
        [placeholders.request, completed],
        [placeholders.delivery, attemptIdOf(delivery)],
        [placeholders.media, media],
        [lastSegment(placeholders.media), lastSegment(media)],
      ]),
      paths: new Map([
        ['deleteProfiler', PROFILER_TO_DELETE],
        ['cancelJob', JOB_TO_CANCEL],
        ['acknowledgeDeletion', ended],
        ['rotateToken', rotated],
        ['revokeToken', revoked],
      ]),
    };
  }

  /** The profilers of the examples, also after somebody deleted them. */
  async #restoreProfilers(): Promise<void> {
    const { account } = this.#service;
    const { profiler, tea, coffee } = placeholders;
    for (const id of [profiler, PROFILER_TO_DELETE]) {
      const key = profilerKey(account.id, id);
      const present = await getConsistent<{ deleted_at?: string }>(key);
      if (present !== undefined && present.deleted_at === undefined) continue;
      const options = [tea, coffee].map((option, index) => ({ id: option, option: index === 0 ? 'tea' : 'coffee' }));
      const question = 'What do you drink in the morning?';
      const created_at = '2026-11-20T09:58:09.118000';
      await putAll([
        { ...key, id, question, options, created_at, request: KEY },
        { ...answerableKey(account.id, id), options: options.length, created_at },
      ]);
    }
  }

  /** The code of the portal of the examples, also after somebody used it. */
  async #restoreCode(): Promise<void> {
    const { id: account } = this.#service.account;
    await putAll([portalCodeItem(placeholders.code, { account, label: 'documentation', permissions: ['stats'] })]);
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

  /** A job of a message that is sent in a month, so that no phone shows it. The job may have been cancelled before. */
  async #openJobToCancel(): Promise<void> {
    const { baseUrl, demo } = this.#service;
    const send_at = Math.floor(now() / 1_000) + 30 * 86_400;
    const response = await responseOf(`${baseUrl}/v1/message?job_id=${JOB_TO_CANCEL}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${demo.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ to: demo.panelist, type: 'text', text: { body: TEXT }, send_at }),
    });
    if (!response.ok && response.status !== 409) throw new Error(`There is no job to cancel: ${response.status}.`);
  }

  /** Uploads a picture, which also becomes the avatar if there is none. Returns its URL. */
  async #upload(): Promise<string> {
    const { baseUrl, demo } = this.#service;
    const headers = { authorization: `Bearer ${demo.token}` };
    const picture = await readFile(new URL('../phone/picture.png', import.meta.url));
    const form = () => {
      const body = new FormData();
      body.append('file', new File([picture], 'picture.png'));
      return body;
    };
    const avatar = `${baseUrl}/v1/avatar`;
    const { status } = await responseOf(avatar, { headers });
    if (status === 404) await called(avatar, { method: 'PUT', headers, body: form() });
    const uploaded = await called(`${baseUrl}/v1/upload_image`, { method: 'POST', headers, body: form() });
    const { url } = (await uploaded.json()) as { url: string };
    return url;
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
