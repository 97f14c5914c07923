/** The page's requests to its server. */

/** An error response. The message is for the user. */
class ResponseError extends Error {}

/** @throws ResponseError — the response is an error; TypeError — the server cannot be reached */
export const read = async <View>(path: string): Promise<View> => (await ask('GET', path)).json();

/** Submits a body, and returns the response. @throws as `read` */
export const submitFor = async <Result>(path: string, body: object): Promise<Result> =>
  (await ask('POST', path, body)).json();

export const isResponseError = (error: unknown): error is Error => error instanceof ResponseError;

/** @throws ResponseError — the response is an error; TypeError — the server cannot be reached */
export const submit = async (
  method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: string,
  body?: object,
): Promise<void> => {
  await ask(method, path, body);
};

const ask = async (method: string, path: string, body?: object): Promise<Response> => {
  const response = await fetch(path, { method, ...(body && { body: JSON.stringify(body) }) });
  if (response.ok) return response;
  throw new ResponseError(reasonIn(await response.text()) ?? `The server returned ${response.status}.`);
};

/** The sentence in an error response: a problem's detail, or a simulator's message. */
const reasonIn = (body: string): string | undefined => {
  try {
    const { detail, message } = Object(JSON.parse(body));
    return detail ?? message;
  } catch {
    return undefined;
  }
};

/** An error as a sentence for the user. */
export const describeError = (error: unknown): string =>
  error instanceof ResponseError ? error.message : 'The local stack cannot be reached.';
