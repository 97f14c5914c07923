/** The pages of operations and webhooks as Markdown, for programs that read text. */
import type { CodeSample, Description, Response } from './description.ts';
import { resolverFor } from './description.ts';
import { errorReader } from './errors.ts';
import { jsonValuesOf } from './examples.ts';
import { type Content, type Field, fieldReader } from './fields.ts';
import { type Operation, operationsIn } from './operations.ts';

const asItIs = (markdown: string): string => markdown;

/** The page of each operation and webhook as Markdown, by the path of its HTML. */
export const referenceMarkdown = (description: Description): Map<string, string> => {
  const operations = operationsIn(description);
  const resolve = resolverFor(description);
  const fieldOf = fieldReader(resolve, asItIs);
  const errorsOf = errorReader(operations, resolve, { block: asItIs, inline: asItIs });

  const responseOf = (status: string, { description: text, content = {} }: Response, isSent: boolean): string[] => {
    const [media] = Object.values(content);
    return [`**${status}** ${text}`, ...(media ? [listOf(fieldOf('', media.schema, true).content, isSent)] : [])];
  };

  const pageOf = ({ id, name, method, route, hosts, isWebhook, described }: Operation): string => {
    const { summary, description: text, parameters = [], requestBody, responses } = described;
    const [[type, body] = []] = Object.entries(requestBody?.content ?? {});
    const given = parameters.map((one) => ({
      ...fieldOf(one.name, { ...one.schema, description: one.description ?? '' }, one.required === true),
      place: one.in,
    }));
    const { own, common } = errorsOf(id);
    return [
      `# ${name}`,
      ...(isWebhook ? [] : [hosts.map((host) => `\`${method} ${host}${route}\``).join(' or ')]),
      summary,
      text,
      ...(given.length > 0
        ? ['## Parameters', given.map((field) => lineOf(field, isWebhook, `${field.place}, `)).join('\n')]
        : []),
      ...(body && type ? [`## Body (\`${type}\`)`, listOf(fieldOf('', body.schema, true).content, isWebhook)] : []),
      `## ${isWebhook ? 'Your response' : 'Response'}`,
      ...Object.entries(responses)
        .filter(([status]) => isWebhook || /^[23]/.test(status))
        .flatMap(([status, response]) => responseOf(status, resolve(response), !isWebhook)),
      ...(own.length + common.length > 0
        ? [
            '## Errors',
            [...own, ...common]
              .map(
                ({ status, code, title, text: remedy }) =>
                  `- ${status} ${code ? `\`${code}\`: ` : ''}${title.replace(/\.$/, '')}. ${remedy}`,
              )
              .join('\n'),
          ]
        : []),
      ...samplesOf(described['x-codeSamples']),
      ...(isWebhook && body ? ['## Example', fenced('json', jsonValuesOf([body])[0] ?? '')] : []),
      ...Object.values(responses)
        .flatMap((response) => jsonValuesOf(Object.values(resolve(response).content ?? {})))
        .slice(0, isWebhook ? 0 : 1)
        .flatMap((json) => ['Response:', fenced('json', json)]),
    ]
      .filter((part) => part.trim() !== '')
      .join('\n\n')
      .concat('\n');
  };

  return new Map(operations.map((operation) => [operation.page, pageOf(operation)]));
};

/** The list of operations, as `llms.txt` has it. */
export const operationList = (description: Description): string =>
  operationsIn(description)
    .map(({ name, page, described }) => `- [${name}](${page.replace('.html', '.md')}): ${described.summary}`)
    .join('\n');

const samplesOf = (samples: CodeSample[] = []): string[] =>
  samples.length > 0 ? ['## Example', ...samples.slice(0, 1).map(({ source }) => fenced('sh', source.trimEnd()))] : [];

const fenced = (language: string, code: string): string => `\`\`\`\`\`${language}\n${code}\n\`\`\`\`\``;

/** The fields as nested lists. `isSent`: the service sends them, and fields that are not required may be missing. */
const listOf = ({ fields, variants }: Content, isSent: boolean): string =>
  [
    ...fields.map((field) => lineOf(field, isSent)),
    ...variants.map(({ field, values, content }) => {
      const named = values.map((value) => `\`${value}\``).join(', ');
      return `- ${field ? `If \`${field}\` is ${named}` : `As ${named}`}:\n${indented(listOf(content, isSent))}`;
    }),
  ].join('\n');

const lineOf = ({ name, type, isRequired, text, facts, content }: Field, isSent: boolean, place = ''): string => {
  const need = isSent ? (isRequired ? [] : ['optional']) : isRequired ? ['required'] : [];
  const limits = facts.map(({ words, values }) =>
    [words, values.map((value) => `\`${value}\``).join(', ')].filter(Boolean).join(' '),
  );
  const own = `- \`${name}\` (${place}${[type, ...need, ...limits].join('; ')})${text ? `: ${text.replaceAll('\n', '\n  ')}` : ''}`;
  const inner = listOf(content, isSent);
  return inner === '' ? own : `${own}\n${indented(inner)}`;
};

const indented = (text: string): string => text.replaceAll(/^(?=.)/gm, '  ');
