/**
 * Each function's role allows what it does: the local stack refuses every call that it does not. And it allows nothing
 * else: here every function does all that it can, on a stack of its own, and then no right is left that none needed.
 */
import { expect, inject, test } from 'vitest';
import { callTableOf } from '../../infra/local/call-table.ts';
import { seedDemo } from '../../infra/local/demo.ts';
import { LocalStack } from '../../infra/local/local-stack.ts';
import { sortableTime } from '../../shared/clock.ts';
import { update } from '../../shared/table/client.ts';
import { profilerKey } from '../../shared/table/keys.ts';

test('no role allows more than its function needs', async () => {
  const lines: string[] = [];
  const stack = await LocalStack.start({
    assembly: Promise.resolve(inject('stack').assembly),
    ports: { base: 0, bridge: 0 },
    dynamodbEndpoint: process.env.DYNAMODB_ENDPOINT || undefined,
    tableName: `${inject('stack').table}-rights`,
    minute: 500,
    onLine: (source, line) => void lines.push(`${source} ${line}`),
  });
  try {
    callTableOf({ dynamodbEndpoint: stack.dynamodbEndpoint, table: `${inject('stack').table}-rights` });
    const { token, panelist } = await seedDemo();
    const send = async (method: string, path: string, body?: object) => {
      const response = await fetch(`${stack.baseUrl}/v1/${path}`, {
        method,
        headers: { authorization: token, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      });
      expect(response.ok).toBe(true);
      return response.status === 204 ? {} : response.json();
    };

    const created = await send('POST', 'research_profilers', { question: 'Well?', options: ['yes', 'no'] });
    const { profiler_id, options } = created as { profiler_id: string; options: { yes: string } };
    await send('GET', 'research_profilers');
    await send('GET', `research_profilers/${profiler_id}`);
    await send('POST', 'profiler_answer', { profiler_id, option_id: options.yes, phone_number: panelist });
    await send('DELETE', `research_profilers/${profiler_id}`);
    await update({
      Key: profilerKey('demo', profiler_id),
      UpdateExpression: 'SET gsi1sk = :now',
      ExpressionAttributeValues: { ':now': sortableTime(Date.now()) },
    });

    await expect.poll(() => stack.unusedRights()).toEqual({});
    expect(lines.filter((line) => line.includes('refused by policy'))).toEqual([]);
  } finally {
    await stack.close();
  }
});
