/** HTTP requests to the local stack. */
import { randomInt, randomUUID } from 'node:crypto';
import type { Demo } from '../../infra/local/demo.ts';
import type { LocalStack } from '../../infra/local/local-stack.ts';
import type { Endpoint } from '../../shared/api/endpoint.ts';
import { api, type EndpointName } from '../../shared/api/index.ts';

export interface Sent {
  path?: Record<string, string>;
  query?: Record<string, string> | undefined;
  /** Default: that of the demo account. */
  token?: string;
  headers?: Record<string, string>;
  /** A text and bytes are sent unchanged, anything else as JSON. */
  body?: unknown;
}

const PROFILE = {
  first_name: { value: 'Ada', source: 'user' },
  device_platform: { value: 'android', source: 'device' },
};

/** The body of a text message to a number. */
export const textTo = (to: string) => ({ to, type: 'text', text: { body: 'Your parcel is on its way.' } });

/** A new random phone number. */
export const newPhone = (): string => `4477${randomInt(1e9, 9e9)}`;

export class FrontDoor {
  readonly #stack: LocalStack;
  readonly #demo: Demo;

  constructor(stack: LocalStack, demo: Demo) {
    this.#stack = stack;
    this.#demo = demo;
  }

  /** Calls an endpoint and returns the body of the response. @throws Error — the status is not 2xx */
  async send(name: EndpointName, { path = {}, query, headers, body, token: own }: Sent): Promise<unknown> {
    const { routes, permission, body: taken }: Endpoint = api[name];
    const [{ host, method, path: template }] = routes;
    const filled = template.replaceAll(/\{(\w+)\}/g, (_, parameter: string) => path[parameter] ?? '');
    const url = new URL(`${host === 'base' ? this.#stack.baseUrl : this.#stack.bridgeUrl}${filled}`);
    url.search = new URLSearchParams(query).toString();
    const token = permission === 'app' ? this.#demo.app_token : (own ?? this.#demo.token);
    const isWhole = typeof body === 'string' || Buffer.isBuffer(body);
    const response = await fetch(url, {
      method,
      headers: {
        ...(taken?.type === 'json' && { 'content-type': 'application/json' }),
        ...headers,
        ...(permission !== 'none' && { authorization: `Bearer ${token}` }),
      },
      ...(body !== undefined && { body: isWhole ? body : JSON.stringify(body) }),
    });
    const answer = await response.bytes();
    if (!response.ok) throw new Error(`${name} was answered ${response.status}: ${Buffer.from(answer)}`);
    return response.headers.get('content-type')?.includes('json') ? JSON.parse(Buffer.from(answer).toString()) : answer;
  }

  /** Reports an event of the app network. */
  async report(type: string, data: object): Promise<void> {
    await this.send('receiveAppEvents', { body: { id: randomUUID(), type, data } });
  }

  /** Registers a new panelist and returns the number. */
  async newUser(): Promise<string> {
    const phone_number = newPhone();
    await this.report('user.updated', { phone_number, panelist: true, properties: PROFILE });
    return phone_number;
  }
}
