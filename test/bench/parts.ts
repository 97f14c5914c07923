/**
 * What measurements of single parts need: the functions as they are deployed, and a database that holds the table without
 * its stream, so that nothing goes on beside what is measured. This process reaches that table through the domain.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTable, openDatabase } from '../../infra/local/aws/database/database.ts';
import type { FunctionDefinition } from '../../infra/local/aws/template/definitions.ts';
import { callTableOf } from '../../infra/local/call-table.ts';
import { readLocalTemplate } from '../../infra/local/local-stack.ts';
import { synthesise } from '../../infra/local/synthesise.ts';

export interface Parts {
  /** Functions by name: `sendMessage`, `deliver`. */
  functions: Map<string, FunctionDefinition>;
  /** What functions of the stack find in their environment, to reach the database. */
  environment: Record<string, string>;
  table: string;
  /** For whatever is made on the way. */
  folder: string;
  close: () => Promise<void>;
}

/** `name` tells the table from others', where a database was given. */
export const openParts = async (name: string): Promise<Parts> => {
  const folder = await mkdtemp(join(tmpdir(), 'bench-'));
  const database = await openDatabase(process.env.DYNAMODB_ENDPOINT || undefined);
  const close = async (): Promise<void> => {
    await database.close();
    await rm(folder, { recursive: true });
  };
  try {
    await synthesise(folder, 'minified');
    const table = `business-api-bench-${name}-${process.pid}`;
    const template = await readLocalTemplate(folder, {
      tableName: table,
      baseUrl: 'https://api.example.com',
      bridgeUrl: 'https://bridge.example.com',
      awsUrl: 'http://127.0.0.1:9',
    });
    const { StreamSpecification: _stream, ...properties } = template.table.properties;
    await createTable(database.endpoint, properties, table);
    callTableOf({ dynamodbEndpoint: database.endpoint, table });
    for (const { environment } of template.functions) Object.assign(process.env, environment);
    const environment = {
      AWS_REGION: process.env.AWS_REGION ?? '',
      AWS_ACCESS_KEY_ID: 'bench',
      AWS_SECRET_ACCESS_KEY: 'local',
      AWS_SESSION_TOKEN: 'local',
      AWS_ENDPOINT_URL_DYNAMODB: database.endpoint,
      // The files of this machine's user have no say here.
      AWS_CONFIG_FILE: '/dev/null',
      AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    };
    const functions = new Map(template.functions.map((definition) => [nameOf(definition.id), definition]));
    return { functions, environment, table, folder, close };
  } catch (error) {
    await close();
    throw error;
  }
};

/** A function's name, `sendMessage`, of its logical id, `SendMessageFunction0A1B2C3D`. */
export const nameOf = (id: string): string =>
  id.replace(/Function[0-9A-F]{8}$/, '').replace(/^[A-Z]/, (letter) => letter.toLowerCase());
