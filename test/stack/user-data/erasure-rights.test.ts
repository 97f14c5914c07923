/**
 * @module-tag long
 *
 * An erasure under each way in which IAM may evaluate transactions, on stacks of their own: a role that is too narrow for
 * one of them would stop it.
 */
import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { expect, inject, test } from 'vitest';
import { type TransactionEvaluation, transactionEvaluations } from '../../../infra/local/aws/iam/policies.ts';
import { messageHistory } from '../../../infra/operator/queries/message-history.ts';
import { logsOfContact } from '../../../shared/outbox/entities.ts';
import { answerKey } from '../../../shared/profilers/entities.ts';
import { getConsistent, page } from '../../../shared/table/client.ts';
import { listConsentReceipts } from '../../../shared/user-data/consent-receipts.ts';
import { requestKey } from '../../../shared/user-data/entities.ts';
import { serveOwnStack } from '../support/own-stack.ts';

const MINUTE = 2_000;

const statesOf = async (id: string): Promise<string[]> =>
  ((await messageHistory(id))?.states ?? []).map(({ state }) => state);

const eraseUnder = async (evaluation: TransactionEvaluation): Promise<void> => {
  const lines: string[] = [];
  const { stack, app, demo } = await serveOwnStack({
    name: `erasure-${evaluation.replace(' ', '-')}-${randomUUID()}`,
    minute: MINUTE,
    // The clients of this process keep the endpoint of their first call.
    dynamodbEndpoint: inject('stack').dynamodb_endpoint,
    transactionEvaluation: evaluation,
    onLine: (_, line) => void lines.push(line),
  });
  const { panelist: phone } = demo;
  const refused = () => lines.filter((line) => line.includes('refused by policy'));
  const post = async (url: string, token: string, body: object): Promise<unknown> => {
    const headers = { authorization: token, 'content-type': 'application/json' };
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
    expect(refused()).toEqual([]);
    // A busy machine: every request here can be repeated.
    if (response.status >= 500) return post(url, token, body);
    expect(response.status, url).toBeLessThan(300);
    return response.status === 204 ? undefined : response.json();
  };
  const ask = <Schema extends v.GenericSchema>(path: string, body: object, schema: Schema) =>
    post(`${stack.baseUrl}${path}`, demo.token, body).then((answer) => v.parse(schema, answer));
  const report = (type: string, data: object) =>
    post(`${stack.bridgeUrl}/v1/app/events`, demo.app_token, { id: randomUUID(), type, data });
  const send = async (body: string): Promise<string> =>
    (await ask('/v1/message', { to: phone, type: 'text', text: { body } }, v.object({ id: v.string() }))).id;

  // An answer and a request, which one batch removes; what was granted; a message that arrived, and a pending one.
  const profiler = await ask(
    '/v1/research_profilers',
    { question: 'Well?', options: ['yes', 'no'] },
    v.object({ profiler_id: v.string(), options: v.object({ yes: v.string() }) }),
  );
  const answer = { profiler_id: profiler.profiler_id, option_id: profiler.options.yes, phone_number: phone };
  await ask('/v1/profiler_answer', answer, v.undefined());
  const { requestId } = await ask(
    `/v1/user_data/start/${phone}`,
    { reason: 'test', data: [{ property: 'first_name' }] },
    v.object({ requestId: v.string() }),
  );
  await report('user_data.answered', { id: requestId, answers: { first_name: 'approved' } });
  const delivered = await send('delivered');
  await expect.poll(() => statesOf(delivered)).toContain('delivered_to_server');
  await fetch(`${app.phoneUrl}/behaviour`, { method: 'PUT', body: JSON.stringify([{ phone, status: 503 }]) });
  const pending = await send('pending');
  expect(await getConsistent(answerKey(profiler.profiler_id, phone))).toBeDefined();
  expect(await listConsentReceipts(phone)).toHaveLength(1);

  await report('user.removed', { phone_number: phone });

  const left = async () => ({
    answer: await getConsistent(answerKey(profiler.profiler_id, phone)),
    request: await getConsistent(requestKey(requestId)),
    receipts: await listConsentReceipts(phone),
    logged: (
      await page({
        IndexName: 'gsi2',
        KeyConditionExpression: 'gsi2pk = :contact',
        ExpressionAttributeValues: { ':contact': logsOfContact(phone) },
      })
    ).items,
  });
  await expect.poll(left).toEqual({ answer: undefined, request: undefined, receipts: [], logged: [] });
  expect(await statesOf(pending)).toEqual(['sent', 'sending_failed']);
  expect(refused()).toEqual([]);
};

const strictest = 'whole call';

test('an erasure is complete if IAM evaluates the whole call of a transaction with each action', { tags: 'long' }, () =>
  eraseUnder(strictest),
);

test.each(transactionEvaluations.filter((evaluation) => evaluation !== strictest))(
  'an erasure is complete if IAM evaluates transactions %s',
  { tags: 'long' },
  eraseUnder,
);
