/** What the page reads of its server, and tells it. */

/** A request that was answered with an error; the message is for the user. */
class Refusal extends Error {}

/** @throws Refusal — the server refuses; TypeError — it cannot be reached */
export const read = async <View>(path: string): Promise<View> => (await ask('GET', path)).json();

/** @throws Refusal — the server refuses, or the service behind it; TypeError — it cannot be reached */
export const tell = async (method: 'POST' | 'DELETE', path: string, body?: object): Promise<void> => {
  await ask(method, path, body);
};

const ask = async (method: string, path: string, body?: object): Promise<Response> => {
  const answer = await fetch(path, { method, ...(body && { body: JSON.stringify(body) }) });
  if (answer.ok) return answer;
  throw new Refusal(reasonIn(await answer.text()) ?? `The answer was ${answer.status}.`);
};

/** The sentence that an error holds: a problem's detail, or a simulator's message. */
const reasonIn = (body: string): string | undefined => {
  try {
    const { detail, message } = Object(JSON.parse(body));
    return detail ?? message;
  } catch {
    return undefined;
  }
};

/** What went wrong, for the user. */
export const sayWhy = (error: unknown): string =>
  error instanceof Refusal ? error.message : 'The local stack cannot be reached.';
