/** The used parts of an OpenAPI description. */

export interface Schema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | boolean;
  items?: Schema;
  oneOf?: Schema[];
  anyOf?: Schema[];
  discriminator?: { propertyName: string };
  const?: unknown;
  enum?: unknown[];
  default?: unknown;
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  examples?: unknown[];
}

export interface CodeSample {
  lang: string;
  label: string;
  source: string;
}

interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  description?: string;
  schema: Schema;
  example?: unknown;
}

interface Example {
  $ref?: string;
  summary: string;
  value: unknown;
}

export interface Media {
  schema: Schema;
  example?: unknown;
  examples?: Record<string, Example>;
}

export interface Response {
  $ref?: string;
  description: string;
  headers?: Record<string, Header>;
  content?: Record<string, Media>;
  links?: Record<string, { operationId: string; description: string }>;
}

interface Header {
  $ref?: string;
  description?: string;
  schema?: Schema;
}

export interface Described {
  operationId: string;
  tags: [string];
  summary: string;
  description: string;
  security?: object[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, Response>;
  /** Samples of the first example, or of the receiver of a webhook. */
  'x-codeSamples'?: CodeSample[];
  /** Samples of all examples, by their summaries. */
  'x-samplesOfExamples'?: Record<string, CodeSample[]>;
}

export interface Description {
  info: { summary: string; description: string };
  servers: { url: string }[];
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Described>>;
  webhooks: Record<string, { post: Described }>;
  components: Record<string, Record<string, object>>;
}

/** Follows the references of a part. The fields beside a reference take precedence. */
export type Resolve = <Part extends { $ref?: string }>(part: Part) => Part;

/** @throws Error — a part refers to a component that does not exist */
export const resolverFor = ({ components }: Description): Resolve => {
  const resolve: Resolve = (part) => {
    if (part.$ref === undefined) return part;
    const { $ref, ...beside } = part;
    const target = components[$ref.split('/').at(-2) ?? '']?.[nameOf(part)];
    if (target === undefined) throw new Error(`The description has no ${$ref}.`);
    return resolve({ ...target, ...beside } as typeof part);
  };
  return resolve;
};

/** The name of the component that a part refers to. */
export const nameOf = ({ $ref = '' }: { $ref?: string }): string => $ref.split('/').at(-1) ?? '';
