/** The tools that read, and the arguments of a message: `npm run openapi` makes them from the API description. */
import type { Endpoint } from '../api/endpoint.ts';
import written from './tools.json' with { type: 'json' };

/** A JSON schema of the arguments of a tool. */
export interface InputSchema {
  type: 'object';
  properties: Record<string, object>;
  required: string[];
  [keyword: string]: unknown;
}

/** A tool that calls an endpoint with GET. */
export interface ReadTool {
  name: string;
  title: string;
  description: string;
  permission: Endpoint['permission'];
  /** Of the endpoint, with the names of its parameters. The other arguments are its query. */
  path: string;
  inputSchema: InputSchema;
}

export const { read: readTools, message: messageSchema } = written as { read: ReadTool[]; message: InputSchema };
