/** What the reference shows of an API description: areas, with a page for each operation and webhook. */
import { renderGuide } from '../guide.ts';
import { slugOf } from '../sections.ts';
import { type Description, type Response, resolverFor } from './description.ts';
import { type Errors, errorReader } from './errors.ts';
import { type Example, examplesOf, jsonOf } from './examples.ts';
import { type Field, fieldReader } from './fields.ts';
import { type Operation, operationsIn } from './operations.ts';
import { type Attempt, attemptOf, type LocalOrigin } from './try.ts';

/** The reference. All texts are HTML. */
export interface Reference {
  summary: string;
  text: string;
  areas: Area[];
}

interface Area {
  tag: string;
  /** Its id on the first page of the reference. */
  id: string;
  text: string;
  operations: OperationPage[];
}

export interface OperationPage extends Omit<Operation, 'described'> {
  /** The id of its area. */
  area: string;
  summary: string;
  text: string;
  /** The rest of a long text, which folds. */
  more: string;
  permission: string | undefined;
  parameters: { title: string; fields: Field[] }[];
  /** The media type of the body, and the body as a field without a name. */
  body: { media: string; field: Field } | undefined;
  responses: ShownResponse[];
  errors: Errors;
  examples: Example[];
  /** The body of a webhook. */
  event: string | undefined;
  /** How to try it out; undefined: nobody can here. */
  attempt: Attempt | undefined;
}

interface ShownResponse {
  status: string;
  text: string;
  types: string[];
  /** The body, as a field without a name. */
  field: Field | undefined;
  headers: Field[];
  links: { page: string; name: string; text: string }[];
}

/** The places of parameters, as they are headed. */
const PLACES = { path: 'Path parameters', query: 'Query parameters', header: 'Headers' };

/** The end of a description. */
const PERMISSION = /\n\nPermission: (?:`(\w+)`|(any))\.$/;

interface Service {
  bridge_url: string;
  local?: LocalOrigin;
}

/** Reads the reference of a service from its API description. */
export const referenceOf = (service: Service, document: object): Reference => {
  const description = document as Description;
  const operations = operationsIn(description);
  const byId = new Map(operations.map((one) => [one.id, one]));
  const resolve = resolverFor(description);
  const block = (markdown: string): string => withLinks(renderGuide(markdown), operations);
  const inline = (markdown: string): string => block(markdown).replaceAll(/^<p>|<\/p>\n$/g, '');
  const fieldOf = fieldReader(resolve, block);
  const errorsOf = errorReader(operations, resolve, { block, inline });

  const responseOf = (
    status: string,
    { description: text, headers = {}, content = {}, links = {} }: Response,
  ): ShownResponse => {
    const [media] = Object.values(content);
    return {
      status,
      text: inline(text),
      types: Object.keys(content),
      field: media && fieldOf('', media.schema, true),
      headers: Object.entries(headers).map(([name, header]) => {
        const { schema = {}, description: own = '' } = resolve(header);
        return fieldOf(name, { ...schema, description: own }, false);
      }),
      links: Object.values(links).flatMap(({ operationId, description: own }) => {
        const target = byId.get(operationId);
        return target ? [{ page: target.page, name: target.name, text: inline(own) }] : [];
      }),
    };
  };

  const read = ({ described, ...operation }: Operation): OperationPage => {
    const { isWebhook, method, route, hosts } = operation;
    const { parameters = [], requestBody, responses, description: words, summary } = described;
    const [, permission, any] = PERMISSION.exec(words) ?? [];
    const [[type = '', media] = []] = Object.entries(requestBody?.content ?? {});
    const url = route.replaceAll(/\{(\w+)\}/g, (given, name) =>
      String(parameters.find((one) => one.name === name)?.example ?? given),
    );
    const curl = `curl ${method === 'HEAD' ? '--head ' : ''}"${hosts[0]}${url}"`;
    const isOfBridge = hosts[0] === service.bridge_url;
    return {
      ...operation,
      area: slugOf(operation.tag),
      summary,
      ...foldedOf(block(words.replace(PERMISSION, ''))),
      permission: permission ?? any,
      parameters: Object.entries(PLACES).flatMap(([place, title]) => {
        const fields = parameters
          .filter((one) => one.in === place)
          .map(({ name, description: text = '', schema, required = false }) =>
            fieldOf(name, { ...schema, description: text }, required),
          );
        return fields.length > 0 ? [{ title, fields }] : [];
      }),
      body: media && { media: type, field: fieldOf('', media.schema, true) },
      responses: Object.entries(responses)
        .filter(([status]) => isWebhook || /^[23]/.test(status))
        .map(([status, response]) => responseOf(status, resolve(response))),
      errors: errorsOf(operation.id),
      examples: examplesOf(described, resolve, { lang: 'Shell', label: 'curl', source: curl }),
      event: isWebhook ? jsonOf(media?.example) : undefined,
      attempt: isWebhook ? undefined : attemptOf({ method, route, isOfBridge }, described, service.local, resolve),
    };
  };

  const pages = Map.groupBy(operations.map(read), ({ tag }) => tag);
  return {
    summary: description.info.summary,
    text: block(description.info.description),
    areas: description.tags.map(({ name, description: text }) => ({
      tag: name,
      id: slugOf(name),
      text: block(text),
      operations: pages.get(name) ?? [],
    })),
  };
};

/** Characters of a text that need no folding. */
const SHORT = 1_000;

/** A rendered text; if it is long, its first paragraph and the rest. */
const foldedOf = (html: string): Pick<OperationPage, 'text' | 'more'> => {
  const end = html.length > SHORT ? html.indexOf('</p>') + '</p>'.length : html.length;
  return { text: html.slice(0, end), more: html.slice(end).trim() };
};

/** A rendered text, in which operations lead to their pages: `POST /v1/message`. */
const withLinks = (html: string, operations: Operation[]): string =>
  html.replaceAll(/<code>([A-Z]+) (\/[^<]+)<\/code>/g, (code, method, route) => {
    const target = operations.find((one) => one.method === method && one.route === route);
    return target ? `<a href="${target.page}">${code}</a>` : code;
  });
