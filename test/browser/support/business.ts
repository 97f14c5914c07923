/** Actions of the business: requests to the API, with the demo account's token unless another one is given. */
import { randomInt } from 'node:crypto';
import { png } from '../../stack/support/files.ts';
import { stack } from './browser.ts';

const headersWith = (token: string) => ({ authorization: `Bearer ${token}` });

/** Calls the API with POST. */
export const post = async (path: string, body: object | FormData, token = stack.token) => {
  const isForm = body instanceof FormData;
  const answer = await fetch(stack.base_url + path, {
    method: 'POST',
    headers: { ...headersWith(token), ...(!isForm && { 'content-type': 'application/json' }) },
    body: isForm ? body : JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
};

export const read = async (path: string, token = stack.token) =>
  (await fetch(stack.base_url + path, { headers: headersWith(token) })).json();

/** A new token of the demo account. */
export const newToken = async (...permissions: string[]): Promise<string> =>
  (await post('/v1/tokens', { label: 'Of a test', permissions })).token;

/** A new random phone number. */
export const newPhone = (): string => `2782${randomInt(1_000_000, 10_000_000)}`;

/** A number of `newPhone` as pages show it: `+27 82 123 4567`. */
export const spaced = (phone: string): string => `+27 82 ${phone.slice(4, 7)} ${phone.slice(7)}`;

export const sendText = async (to: string, body: string, quick_replies: string[] = []): Promise<string> =>
  (await post('/v1/message', { to, type: 'text', text: { body }, ...(quick_replies.length > 0 && { quick_replies }) }))
    .id;

/** Sends a message with any fields. Returns its id. */
export const send = async (message: object, token?: string): Promise<string> =>
  (await post('/v1/message', message, token)).id;

export const sendMedia = async (to: string, type: 'image' | 'file', caption?: string): Promise<string> => {
  const form = new FormData();
  form.set('file', new File([new Uint8Array(png)], 'picture.png'));
  const { url } = await post(`/v1/upload_${type}`, form);
  await post('/v1/message', { to, type, [type]: { url, ...(caption && { caption }) } });
  return url;
};

/** Registers a user with a profile, like the app. */
export const register = (phone: string, properties: Record<string, string>) =>
  fetch(`${stack.phone_url}/phones/${phone}/user`, {
    method: 'POST',
    body: JSON.stringify({
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, value]) => [name, { value, source: 'user' }]),
      ),
    }),
  });

export const askFor = async (
  phone: string,
  data: object[],
  { reason = 'To greet you', valid_days }: { reason?: string; valid_days?: number } = {},
): Promise<string> => (await post(`/v1/user_data/start/${phone}`, { reason, data, valid_days })).requestId;

/** Acknowledges that the business has deleted its copy of what a request released. Returns the status. */
export const acknowledge = async (request: string): Promise<number> =>
  (
    await fetch(`${stack.base_url}/v1/user_data/${request}/deleted`, {
      method: 'POST',
      headers: headersWith(stack.token),
    })
  ).status;

/** Creates a survey. Returns its id, and the id of each option by its text in lower case. */
export const createSurvey = async (
  question: string,
  options: string[],
): Promise<{ profiler_id: string; options: Record<string, string> }> =>
  post('/v1/research_profilers', { question, options });

/** Registers a user who takes part in research, and records an answer of this user. */
export const answerSurvey = async (survey: string, option: string | undefined, phone = newPhone()): Promise<void> => {
  await fetch(`${stack.phone_url}/phones/${phone}/user`, { method: 'POST', body: JSON.stringify({ panelist: true }) });
  await post('/v1/profiler_answers', [{ profiler_id: survey, option_id: option, phone_number: phone }]);
};

export const retrieve = (phone: string, property: string) =>
  post(`/v1/user_data/fetch/${phone}`, { data: [{ property }] });

/** The states in a contact's log. */
export const statesOf = async (phone: string): Promise<string[]> => {
  const answer = await fetch(`${stack.base_url}/v1/stats/logs?contact=${phone}`, { headers: headersWith(stack.token) });
  if (answer.status === 204) return [];
  return ((await answer.json()) as { state: string }[]).map(({ state }) => state);
};
