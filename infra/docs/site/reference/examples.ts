/** The examples of an operation: samples of the request in several languages, and the response. */
import { renderGuide } from '../guide.ts';
import type { CodeSample, Described, Media, Resolve } from './description.ts';

export interface Example {
  title: string;
  samples: Sample[];
  /** The body of the request, as in the description. */
  request: string | undefined;
  response: { status: string; code: string } | undefined;
}

interface Sample {
  language: string;
  label: string;
  /** HTML. */
  code: string;
}

/** Code as HTML, as guides show it. Long code scrolls, with the keyboard too. */
const codeOf = (language: string, text: string): string =>
  renderGuide(`\`\`\`\`\`${language}\n${text.trimEnd()}\n\`\`\`\`\``).replace('<pre>', '<pre tabindex="0">');

export const jsonOf = (value: unknown): string => codeOf('json', JSON.stringify(value, null, 2));

/** The examples of an operation; without any, one with this sample alone. */
export const examplesOf = (
  { requestBody, responses, 'x-codeSamples': samples, 'x-samplesOfExamples': samplesOf = {} }: Described,
  resolve: Resolve,
  alone: CodeSample,
): Example[] => {
  const requests = valuesOf(Object.values(requestBody?.content ?? {}));
  const answers = Object.entries(responses)
    .flatMap(([status, response]) =>
      valuesOf(Object.values(resolve(response).content ?? {})).map(({ title, value }) => ({ title, status, value })),
    )
    .filter(({ status }) => status.startsWith('2'));
  const titles = [...new Set([...requests, ...answers].map(({ title }) => title))];
  return (titles.length > 0 ? titles : ['']).map((title) => {
    const request = requests.find((one) => one.title === title);
    const answer = answers.find((one) => one.title === title);
    return {
      title,
      samples: (samplesOf[title] ?? samples ?? [alone]).map(({ lang, label, source }) => ({
        language: lang,
        label,
        code: codeOf(FENCES[lang] ?? '', source),
      })),
      request: request && JSON.stringify(request.value, null, 2),
      response: answer && {
        status: answer.status,
        code: typeof answer.value === 'string' ? codeOf('', answer.value) : jsonOf(answer.value),
      },
    };
  });
};

/** Languages of code in guides. */
const FENCES: Record<string, string> = { Shell: 'sh', Python: 'python', JavaScript: 'js', Go: 'go' };

/** The examples of a body as JSON. */
export const jsonValuesOf = (media: Media[]): string[] =>
  valuesOf(media).map(({ value }) => (typeof value === 'string' ? value : JSON.stringify(value, null, 2)));

const valuesOf = (media: Media[]): { title: string; value: unknown }[] =>
  media.flatMap(({ example, examples = {} }) => [
    ...(example === undefined ? [] : [{ title: '', value: example }]),
    ...Object.values(examples).map(({ summary, value }) => ({ title: summary, value })),
  ]);
