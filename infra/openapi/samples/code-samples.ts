/**
 * Code samples of each operation and webhook, for references that show `x-codeSamples` (Redoc, Scalar and others):
 *
 *     const shown = withCodeSamples(apiDescription(hosts), hosts);
 *
 * The samples come from the examples. They read `BASE_URL`, `BRIDGE_URL` and `TOKEN` from the environment, and contain no
 * token. Keys and jobs are new in each run, so a sample works again after a change. `npm run test:clients` runs all of them.
 * They are in the documentation only, because they would make the description that the service returns more than twice as long.
 */
import { exampleHosts } from '../../../shared/api/openapi/example-hosts.ts';
import { type Example, examples } from '../docs.ts';
import { inShell } from './curl.ts';
import { inGo } from './go.ts';
import { inJavascript } from './javascript.ts';
import { inPython } from './python.ts';
import { requestOf, type SampleRequest } from './sample-request.ts';
import { verification } from './verification.ts';

export interface CodeSample {
  /** The language, for highlighting. */
  lang: string;
  label: string;
  source: string;
}

/** @internal Tests use it, too. */
export const languages = ['curl', 'Python', 'JavaScript', 'Go'] as const;

/** @internal Tests use it, too. */
export type Language = (typeof languages)[number];

const writers: Record<Language, { lang: string; write: (request: SampleRequest) => string }> = {
  curl: { lang: 'Shell', write: inShell },
  Python: { lang: 'Python', write: inPython },
  JavaScript: { lang: 'JavaScript', write: inJavascript },
  Go: { lang: 'Go', write: inGo },
};

/**
 * The sample of an example in a language.
 *
 * @internal Tests use it, too.
 */
export const sampleOf = (example: Example, label: Language): CodeSample => {
  const { lang, write } = writers[label];
  return { lang, label, source: `${write(requestOf(example))}\n` };
};

interface Hosts {
  base: string;
  bridge: string;
}

/**
 * A copy of the API description with code samples. Operations of a second path have the samples of the first one. If an
 * operation has several examples, `x-samplesOfExamples` has the samples of each, by its summary.
 *
 * @param hosts - the URLs of the hosts in the description
 */
export const withCodeSamples = <Given extends object>(description: Given, { base, bridge }: Hosts): Given => {
  const copy = structuredClone(description);
  const inLanguage =
    (example: Example) =>
    (language: Language): CodeSample => {
      const { source, ...sample } = sampleOf(example, language);
      return { ...sample, source: source.replaceAll(exampleHosts.base, base).replaceAll(exampleHosts.bridge, bridge) };
    };
  for (const operation of operationsIn(copy, 'paths')) {
    const id = String(operation.operationId).replace(/BelowV1$/, '');
    const samples = examples
      .filter(({ endpoint }) => endpoint === id)
      .map((example): [string, CodeSample[]] => [example.shows, languages.map(inLanguage(example))]);
    const [[, first] = []] = samples;
    if (first) operation['x-codeSamples'] = first;
    if (samples.length > 1) operation['x-samplesOfExamples'] = Object.fromEntries(samples);
  }
  for (const webhook of operationsIn(copy, 'webhooks')) webhook['x-codeSamples'] = verification;
  return copy;
};

/** The operations of all paths, or of all webhooks. */
const operationsIn = (description: object, part: 'paths' | 'webhooks'): Record<string, unknown>[] =>
  Object.entries(description)
    .filter(([name]) => name === part)
    .flatMap(([, items]) => valuesOf(items))
    .flatMap(valuesOf)
    .filter((operation) => 'operationId' in operation);

const valuesOf = (value: unknown): Record<string, unknown>[] => Object.values(Object(value)).filter(isRecord);

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
