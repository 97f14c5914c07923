/** The values that examples of the API description have on a stack: ids, times and URLs differ in each run. */

/** Ids, times, datafree URLs, claims, plans, secrets, and headers of signed requests, which differ in each run. */
const OWN =
  /^[0-9a-f]{8}-[0-9a-f-]{27}(-[0-9a-f]{14})?$|^\d{4}-\d\d-\d\dT[\d:.]+$|\/media\/[0-9a-f]{32}$|^[\w-]{100,}$|^\d{2,10}$|^v1,|^whsec_|^bapi_[0-9a-f]{72}$|^[0-9a-f]{4}$|^\d{13}\.[\w-]{22}$/;

type Found = [example: string, answer: string][];

export class ExampleValues {
  readonly #actual = new Map<string, string>();

  /** Sets the value of a placeholder, or another one for a value. */
  set(placeholder: string, value: string): void {
    for (const [of, previous] of this.#actual) if (previous === placeholder) this.#actual.set(of, value);
    this.#actual.set(placeholder, value);
  }

  /** A text or a part of an example, with the values of this run. */
  substituted<Value>(value: Value): Value {
    // In one pass: a random value may contain a short placeholder, for example the last four characters of a token.
    const names = [...this.#actual.keys()].sort((a, b) => b.length - a.length).map((name) => RegExp.escape(name));
    if (names.length === 0) return value;
    const any = new RegExp(names.join('|'), 'g');
    return JSON.parse(JSON.stringify(value).replaceAll(any, (name) => this.#actual.get(name) ?? name));
  }

  /** Compares a response with the example's. If they match, its ids, times and URLs become values. */
  learn(example: unknown, answer: unknown): boolean {
    const found = match(this.substituted(example), answer);
    for (const [ofExample, ofAnswer] of found ?? []) {
      // A length or a time in seconds: other texts may contain its digits, for example phone numbers.
      if (/^\d+$/.test(ofExample)) continue;
      this.set(ofExample, ofAnswer);
      // Requests contain the id of a datafree URL.
      if (/\/media\//.test(ofExample)) this.set(lastSegment(ofExample), lastSegment(ofAnswer));
    }
    return found !== undefined;
  }
}

const lastSegment = (url: string): string => url.replace(/.*\//, '');

/**
 * The response's ids, times and URLs for those of an example; undefined if the response differs in anything else. A list
 * may have more elements than in the example.
 */
const match = (example: unknown, answer: unknown): Found | undefined => {
  if (Array.isArray(example)) {
    if (!Array.isArray(answer)) return undefined;
    return all(example.map((one) => answer.map((other) => match(one, other)).find((found) => found !== undefined)));
  }
  if (isRecord(example)) {
    if (!isRecord(answer) || Object.keys(example).sort().join() !== Object.keys(answer).sort().join()) return undefined;
    return all(Object.entries(example).map(([key, one]) => matchMember(key, one, answer[key])));
  }
  if (typeof example === 'string' && OWN.test(example)) {
    return typeof answer === 'string' && OWN.test(answer) ? [[example, answer]] : undefined;
  }
  return answer === example ? [] : undefined;
};

const matchMember = (key: string, example: unknown, answer: unknown): Found | undefined => {
  // How much of an allowance is used: an example that was sent again has used more.
  if (key === 'used') return [];
  // The phones of the local stack report further states by themselves.
  if (key === 'states' && isRecord(example) && isRecord(answer)) return match(example, pickedFrom(answer, example));
  return match(example, answer);
};

const pickedFrom = (answer: Record<string, unknown>, example: Record<string, unknown>) =>
  Object.fromEntries(Object.keys(example).flatMap((key) => (key in answer ? [[key, answer[key]]] : [])));

const all = (found: (Found | undefined)[]): Found | undefined =>
  found.every((one) => one !== undefined) ? found.flat() : undefined;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
