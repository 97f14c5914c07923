/** The actions of the demo's business, which the page offers. They use the API, as every business does. */
import { readFile } from 'node:fs/promises';
import * as v from 'valibot';
import { httpError } from '../simulators/http.ts';

interface Api {
  baseUrl: string;
  /** The demo account's token. The page does not receive it. */
  token: string;
}

const uploaded = v.object({ url: v.string() });

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
  async act(name: string, phone: string): Promise<void> {
    const act = Object.entries(this.#acts).find(([known]) => known === name)?.[1];
    if (act === undefined) throw httpError(404, `There is no ${name}: ${Object.keys(this.#acts).join(', ')}.`);
    await act(phone);
  }

  readonly #acts = {
    greeting: (phone: string) =>
      this.#send(phone, {
        type: 'text',
        text: { body: 'Good morning! Would you like to take part in a short survey?' },
        quick_replies: ['Yes', 'Not today'],
      }),
    picture: async (phone: string) => {
      const picture = await readFile(new URL('picture.png', import.meta.url));
      const url = await this.#upload('upload_image', new File([new Uint8Array(picture)], 'picture.png'));
      await this.#send(phone, { type: 'image', image: { url } });
    },
    file: async (phone: string) => {
      const url = await this.#upload('upload_file', new File([PDF], 'survey.pdf'));
      await this.#send(phone, { type: 'file', file: { url } });
    },
    consent: (phone: string) =>
      this.#post(`/v1/user_data/start/${phone}`, {
        reason: 'To send you surveys that fit you',
        data: [
          { property: 'first_name', reason: 'So that we can greet you', required: true },
          { property: 'citizenship', reason: 'Some surveys are for one country' },
          { property: 'device_platform' },
        ],
      }),
  };

  #send(to: string, content: object): Promise<unknown> {
    return this.#post('/v1/message', { to, ...content });
  }

  #post(path: string, body: object): Promise<unknown> {
    return this.#call(path, { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  }

  async #upload(endpoint: string, file: File): Promise<string> {
    const body = new FormData();
    body.set('file', file);
    return v.parse(uploaded, await this.#call(`/v1/${endpoint}`, { body })).url;
  }

  async #call(path: string, request: { headers?: Record<string, string>; body: string | FormData }): Promise<unknown> {
    const { baseUrl, token } = this.#api;
    const headers = { ...request.headers, authorization: `Bearer ${token}` };
    const response = await fetch(baseUrl + path, { method: 'POST', ...request, headers });
    const text = await response.text();
    if (response.ok) return JSON.parse(text);
    const { success, output } = v.safeParse(v.pipe(v.string(), v.parseJson(), v.object({ detail: v.string() })), text);
    throw httpError(502, success ? output.detail : `The service returned ${response.status}.`);
  }
}
