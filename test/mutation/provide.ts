/** Starts a database, synthesises the stack, and provides both to the tests. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { createTable, openDatabase } from '../../infra/local/aws/database/database.ts';
import { readLocalTemplate } from '../../infra/local/local-stack.ts';
import { synthesise } from '../../infra/local/synthesise.ts';

let assembled: Promise<string> | undefined;

/** Synthesises the stack, once for all projects. */
const assemble = async (folder: string): Promise<string> => {
  const assembly = join(folder, 'assembly');
  await synthesise(assembly, 'linked');
  return assembly;
};

export default async (project: TestProject) => {
  const folder = await mkdtemp(join(tmpdir(), 'mutation-'));
  assembled ??= assemble(folder);
  const assembly = await assembled;
  const table = `business-api-mutation-${process.pid}`;
  const database = await openDatabase(undefined);
  const urls = { baseUrl: '', bridgeUrl: '', awsUrl: '' };
  const { table: definition } = await readLocalTemplate(assembly, { tableName: table, ...urls });
  await createTable(database.endpoint, definition.properties, table);
  project.provide('stack', {
    assembly,
    dynamodb_endpoint: database.endpoint,
    table,
    log: join(folder, 'stack.log'),
    calls: join(folder, 'calls.jsonl'),
    // Properties of the served stack, which its process sets.
    base_url: '',
    bridge_url: '',
    s3_endpoint: '',
    secrets_endpoint: '',
    phone_url: '',
    app_url: '',
    rapidpro_url: '',
    turn_url: '',
    token: '',
    app_token: '',
    turn_token: '',
    bot_phone_number: '',
    turn_bot_phone_number: '',
    panelist: '',
    pid: process.pid,
  });
  return async () => {
    await database.close();
    await rm(folder, { recursive: true, force: true });
  };
};
