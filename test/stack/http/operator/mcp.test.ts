/**
 * `operator mcp`: the MCP server over stdio, with the official client.
 *
 * @module-tag long
 */
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { beforeAll, expect, test } from 'vitest';
import { callTool, connectClient, dataIn } from '../../support/mcp.ts';
import { type Environment, machine, operatorIn, remote } from '../../support/operator.ts';
import { newCaller, newPhones } from '../../support/world.ts';

/** An environment of a local stack with this demo token. */
const stackWith = async (token: string): Promise<Environment> => ({
  ...(await machine({ pid: process.pid, token })),
  TOKEN: undefined,
});

/** A client that starts the command. */
const startedIn = (env: Environment) => {
  const given = Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
  const args = ['infra/operator/main.ts', 'mcp'];
  const transport = { command: process.execPath, args, env: Object.fromEntries(given), stderr: 'ignore' } as const;
  return connectClient(new StdioClientTransport(transport));
};

let demo = '';
beforeAll(async () => {
  demo = (await newCaller('messages', 'stats')).token;
});

test('serves the tools of the demo account, which read and send', async () => {
  const client = await startedIn(await stackWith(demo));
  const { tools } = await client.listTools();
  const names = ['read_message', 'list_recent_jobs', 'read_job', 'read_token_info', 'list_logs', 'list_jobs'];
  expect(tools.map(({ name }) => name)).toEqual([...names, 'plan_message', 'send_plan']);
  const given = { to: newPhones(2), text: 'Hello' };
  const { plan, count, idempotency_key } = (await callTool(client, 'plan_message', given)).value ?? {};
  const { value } = await callTool(client, 'send_plan', { ...given, plan, count, idempotency_key });
  expect(value).toMatchObject({ messages: 2 });
  const read = async () => dataIn((await callTool(client, 'read_job', { job_id: value?.job_id })).text).data.result;
  await expect.poll(read).toMatchObject({ recipients: 2 });
});

test('uses the token of the variable TOKEN, if it is set', async () => {
  const { account, token } = await newCaller('profilers');
  const client = await startedIn({ ...(await stackWith(demo)), TOKEN: token });
  expect(dataIn((await callTool(client, 'read_token_info')).text).data.result).toMatchObject({ account });
});

test('with a token that is not valid, says so for each list of tools', async () => {
  const client = await startedIn({ ...(await stackWith(demo)), TOKEN: 'nobody' });
  await expect(client.listTools()).rejects.toThrow('403');
});

test('of a table without an API is an error', async () => {
  const { code, stderr } = await operatorIn(remote, 'mcp');
  expect([code, stderr]).toEqual([1, expect.stringContaining('A table has no API')]);
});
