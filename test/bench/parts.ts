/**
 * The parts for measurements of single functions: the functions as deployed, and a table without its stream, so that no
 * worker runs at the same time. The domain's modules of this process use this table.
 */
import { createTable, openDatabase } from '../../infra/local/aws/database/database.ts';
import type { FunctionDefinition } from '../../infra/local/aws/template/definitions.ts';
import { readLocalTemplate } from '../../infra/local/local-stack.ts';
import { synthesise } from '../../infra/local/synthesise.ts';
import { callTableOf } from '../../infra/operator/local-stack/call-table.ts';

export interface Parts {
  /** Functions by name: `sendMessage`, `deliver`. */
  functions: Map<string, FunctionDefinition>;
  /** The environment for the functions to call the database. */
  environment: Record<string, string>;
  table: string;
  close: () => Promise<void>;
}

/** Opens the parts. `name` distinguishes tables in a database that is shared. */
export const openParts = async (name: string): Promise<Parts> => {
  const database = await openDatabase(process.env.DYNAMODB_ENDPOINT || undefined);
  try {
    const table = `business-api-bench-${name}-${process.pid}`;
    const template = await readLocalTemplate(await synthesise('minified'), {
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
      // Ignore the AWS configuration of this machine's user.
      AWS_CONFIG_FILE: '/dev/null',
      AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    };
    const functions = new Map(template.functions.map((definition) => [nameOf(definition.id), definition]));
    return { functions, environment, table, close: () => database.close() };
  } catch (error) {
    await database.close();
    throw error;
  }
};

/** The name of a function, `sendMessage`, from its logical id, `SendMessageFunction0A1B2C3D`. */
export const nameOf = (id: string): string =>
  id.replace(/Function[0-9A-F]{8}$/, '').replace(/^[A-Z]/, (letter) => letter.toLowerCase());
