/**
 * `operator tail` over a stack: a rejected request, a message, and a function that crashes.
 *
 * @module-tag long
 */
import { expect, inject, test } from 'vitest';
import { LambdaPool } from '../../../../infra/local/aws/lambda/lambda-pool.ts';
import { LogFeed } from '../../../../infra/local/log-feed.ts';
import { machine, operatorIn } from '../../support/operator.ts';
import { serveOwnStack } from '../../support/own-stack.ts';

test('a 422, a 5xx of a crash, and the way of a message are found by status, account, function and message', async () => {
  const feed = new LogFeed();
  let crashing = '';
  const functions = class extends LambdaPool {
    readonly #id: string;

    constructor(...given: ConstructorParameters<typeof LambdaPool>) {
      super(...given);
      this.#id = given[0].id;
    }

    override invoke(event: unknown): Promise<unknown> {
      const result = super.invoke(event);
      const kill = () => {
        if (!this.kill()) setImmediate(kill);
      };
      if (crashing !== '' && this.#id.startsWith(crashing)) kill();
      return result;
    }
  };
  const { stack, app, demo } = await serveOwnStack({
    name: 'tail',
    minute: 60_000,
    functions,
    dynamodbEndpoint: inject('stack').dynamodb_endpoint,
    onLine: (source, line) => feed.add(source, line),
  });
  app.serve(feed.routes);
  const { baseUrl: base_url, bridgeUrl: bridge_url, dynamodbEndpoint: dynamodb_endpoint } = stack;
  const env = await machine({ base_url, bridge_url, phone_url: app.phoneUrl, dynamodb_endpoint, pid: process.pid });

  const tail = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await operatorIn(env, 'tail', '--no-follow', ...args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return stdout;
  };
  const send = (to: string): Promise<Response> =>
    fetch(`${base_url}/v1/message`, {
      method: 'POST',
      headers: { authorization: `Bearer ${demo.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ to, type: 'text', text: { body: 'Hi' } }),
    });

  expect((await send('Thandi')).status).toBe(422);
  const { id } = (await (await send(demo.panelist)).json()) as { id: string };
  await expect.poll(() => tail('--message', id)).toMatch(/ deliver +delivered {2}demo .+ delivery_ms=/);
  crashing = 'SendMessageFunction';
  expect((await send(demo.panelist)).status).toBe(500);

  await expect
    .poll(() => tail('--status', '4xx'))
    .toMatch(/ sendMessage +POST \/v1\/message {2}422 .+ invalid_request/);
  expect(await tail('--status', '422')).toMatch(/ base +POST \/v1\/message {2}422 .+ {2}demo /);
  expect(await tail('--message', id)).toMatch(/^\S+ {2}info {3}sendMessage +accepted {2}demo /);
  expect((await tail('--status', '5xx')).trim()).toMatch(/^\S+ +base +POST \/v1\/message {2}500 .+$/);
  expect(await tail('--function', 'sendMessage')).toMatch(
    /error {2}sendMessage +call ended with error {2}requestId=\S+ {2}errorType=Runtime\.Killed\n$/,
  );
  expect(await tail('--account', 'demo', '--status', '4xx')).not.toMatch(/\/v1\/message {2}5/);
  expect(await tail('--account', 'other')).toBe('');
  // What people may not see is in no line.
  const all = await tail();
  for (const secret of [demo.token, demo.panelist, 'Thandi', '"Hi"']) expect(all).not.toContain(secret);
});
