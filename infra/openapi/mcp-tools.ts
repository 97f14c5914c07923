/** Makes the tools of the MCP server from the API description: one for each endpoint that reads, and the arguments of a message. */
import { api, type EndpointName } from '../../shared/api/index.ts';
import { permissions } from '../../shared/core/permissions.ts';
import { contentTypes, messageOptions } from '../../shared/mcp/message.ts';
import type { InputSchema, ReadTool } from '../../shared/mcp/tools.ts';

/** Endpoints with GET that are no tools, because they return files and pages. */
const notTools: readonly EndpointName[] = [
  'readApiDescription',
  'readDocumentation',
  'readPortal',
  'readMedia',
  'readAvatar',
  'exportProfiler',
  'exportJobLog',
];

/** Seconds that a tool waits at most, because clients of MCP wait less patiently than others. */
const LONGEST_WAIT = 20;

/** The parts of the description that tools are made of. */
interface Description {
  paths: Record<string, { get?: Operation }>;
  components: { schemas: Record<string, Schema> };
}

interface Operation {
  operationId: EndpointName;
  summary: string;
  description: string;
  parameters?: { name: string; in: string; required: boolean; description?: string; schema: Schema }[];
}

interface Schema {
  $ref?: string;
  properties?: Record<string, Schema>;
  [keyword: string]: unknown;
}

const snakeCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** A schema without a reference: a client reads the schema of each tool alone. */
const resolved = ({ $ref, ...own }: Schema, named: Record<string, Schema>): Schema => {
  const name = $ref?.split('/').at(-1);
  return name === undefined ? own : { ...resolved(named[name] ?? {}, named), ...own };
};

/** The tools of an API description: those that read, and the arguments of those that send. */
export const describeTools = (written: unknown): { read: ReadTool[]; message: InputSchema } => {
  const { paths, components } = written as Description;
  const read = Object.entries(paths).flatMap(([path, { get: operation }]) =>
    operation === undefined || notTools.includes(operation.operationId)
      ? []
      : [describeTool(path, operation, components.schemas)],
  );
  return { read, message: describeMessage(components.schemas) };
};

const describeTool = (path: string, operation: Operation, named: Record<string, Schema>): ReadTool => {
  const { operationId, summary, description, parameters = [] } = operation;
  const shown = parameters.map(({ name, description: meaning, schema }): [string, Schema] => [
    name,
    {
      ...resolved(schema, named),
      description: inTools(meaning),
      ...(name === 'long_poll' && { maximum: LONGEST_WAIT }),
    },
  ]);
  return {
    name: snakeCase(operationId),
    title: summary,
    description: inTools(description.replace(/\n\nPermission: .*$/, '')),
    permission: api[operationId].permission,
    path,
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(shown),
      required: parameters.filter(({ required }) => required).map(({ name }) => name),
      additionalProperties: false,
    },
  };
};

/** The table of the tools in their guide, by permission. */
export const toolTable = ({ read }: { read: ReadTool[] }): string[][] => {
  const rows = ['any', ...permissions].flatMap((permission) => {
    const names = read.filter((tool) => tool.permission === permission).map(({ name }) => `\`${name}\``);
    if (permission === 'messages') names.push('**`plan_message`, `send_plan`**');
    return names.length === 0 ? [] : [[permission === 'any' ? permission : `\`${permission}\``, names.join(', ')]];
  });
  return [['permission', 'tools'], ...rows];
};

/** A result of a tool has no header. */
const inTools = (text = ''): string => text.replaceAll(/(the|a) `Link` header/g, '`next_cursor`');

/** The arguments of a message: as flat as models like them. */
const describeMessage = (named: Record<string, Schema>): InputSchema => {
  const field = (schema: string, name: string): Schema => {
    const found = named[schema]?.properties?.[name];
    if (found === undefined) throw new Error(`The API description has no ${schema}.${name}.`);
    return resolved(found, named);
  };
  return {
    type: 'object',
    properties: {
      to: { ...named.PhoneNumbers, description: 'The phone numbers of the users.' },
      type: { type: 'string', enum: [...contentTypes], default: 'text' },
      text: { ...field('MessageText', 'body'), description: 'The text. Only for the type `text`.' },
      url: {
        ...field('CaptionedMedia', 'url'),
        description: 'A datafree URL of your account. Not for the type `text`.',
      },
      caption: {
        ...field('CaptionedMedia', 'caption'),
        description: 'A text that the app shows with an image, a file or a video.',
      },
      ...Object.fromEntries(messageOptions.map((name) => [name, field('TextMessage', name)])),
      send_at: { ...named.PointInTime, description: field('TextMessage', 'send_at').description },
    },
    required: ['to'],
    additionalProperties: false,
  };
};
