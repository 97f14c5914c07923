/** The actions of a demo account's business, which the page offers. They use the API, as every business does. */
import { readFile } from 'node:fs/promises';
import * as v from 'valibot';
import { reasonIn } from '../../operator/local-stack/report.ts';
import { httpError } from '../simulators/http.ts';
import { fields, looseFields, phone as phoneNumber, text, wholeNumber } from '../simulators/schemas.ts';
import type { Call } from './traces/views.ts';

interface Api {
  baseUrl: string;
  /** The account's token. The page does not receive it. */
  token: string;
}

const uploaded = v.object({ url: v.string() });
const sent = v.object({ id: v.string() });

/** A message as the API takes it, which checks its fields. */
export const messageBody = looseFields({ to: text });

/** The body of a request for an action. */
export const actionBody = fields({
  phone: phoneNumber,
  /** For how many days the consent is valid that the business asks for; 1 to 365. */
  valid_days: v.exactOptional(wholeNumber(1, 365)),
});

type Action = v.InferOutput<typeof actionBody>;

/** A minimal PDF, of one empty page. */
const PDF = `%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]>>endobj
trailer<</Root 1 0 R>>
`;

export class Business {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** @throws HTTPException — 404, there is no such action; 502, the service rejects the request */
  async act(name: string, { phone, valid_days }: Action): Promise<void> {
    const act = Object.entries(this.#acts).find(([known]) => known === name)?.[1];
    if (act === undefined) throw httpError(404, `There is no ${name}: ${Object.keys(this.#acts).join(', ')}.`);
    await act(phone, valid_days);
  }

  /**
   * Sends a message to one user. Returns its id.
   *
   * @throws HTTPException — 502, the service rejects the request
   */
  async send(message: object): Promise<v.InferOutput<typeof sent>> {
    return v.parse(sent, await this.#post('/v1/message', message));
  }

  /** Confirms that the values of a request are deleted. @throws HTTPException — 502, the service rejects the request */
  async confirmDeletion(request: string): Promise<void> {
    await this.#call(`/v1/user_data/${encodeURIComponent(request)}/deleted`, { method: 'POST' });
  }

  /**
   * Repeats a request of the API, without its idempotency key.
   *
   * @throws HTTPException — 502, the service rejects the request
   */
  async repeat({
    method,
    path,
    headers,
    body,
  }: Pick<Call, 'method' | 'path' | 'headers'> & { body: string | Buffer }): Promise<void> {
    const type = headers['content-type'];
    await this.#call(path, {
      method,
      ...(type !== undefined && { headers: { 'content-type': type } }),
      ...(body !== '' && { body: typeof body === 'string' ? body : new Blob([new Uint8Array(body)]) }),
    });
  }

  readonly #acts = {
    greeting: (phone: string) =>
      this.send({
        to: phone,
        type: 'text',
        text: { body: 'Good morning! Would you like to take part in a short survey?' },
        quick_replies: ['Yes', 'Not today'],
      }),
    picture: async (phone: string) => {
      const picture = await readFile(new URL('picture.png', import.meta.url));
      const url = await this.#upload('upload_image', new File([new Uint8Array(picture)], 'picture.png'));
      await this.send({ to: phone, type: 'image', image: { url } });
    },
    file: async (phone: string) => {
      const url = await this.#upload('upload_file', new File([PDF], 'survey.pdf'));
      await this.send({ to: phone, type: 'file', file: { url } });
    },
    consent: (phone: string, valid_days: number | undefined) =>
      this.#post(`/v1/user_data/start/${phone}`, {
        reason: 'To send you surveys that fit you',
        data: [
          { property: 'first_name', reason: 'So that we can greet you', required: true },
          { property: 'citizenship', reason: 'Some surveys are for one country' },
          { property: 'device_platform' },
        ],
        ...(valid_days !== undefined && { valid_days }),
      }),
  };

  #post(path: string, body: object): Promise<unknown> {
    const headers = { 'content-type': 'application/json' };
    return this.#call(path, { method: 'POST', headers, body: JSON.stringify(body) });
  }

  async #upload(endpoint: string, file: File): Promise<string> {
    const body = new FormData();
    body.set('file', file);
    return v.parse(uploaded, await this.#call(`/v1/${endpoint}`, { method: 'POST', body })).url;
  }

  async #call(
    path: string,
    request: { method: string; headers?: Record<string, string>; body?: string | Blob | FormData },
  ): Promise<unknown> {
    const { baseUrl, token } = this.#api;
    const headers = { ...request.headers, authorization: `Bearer ${token}` };
    const response = await fetch(baseUrl + path, { ...request, headers });
    const text = await response.text();
    if (response.ok) return text === '' ? undefined : JSON.parse(text);
    throw httpError(502, reasonIn({ status: response.status, body: text }));
  }
}
