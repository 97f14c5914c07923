/**
 * Messages that somebody waits for: the endpoints that accept them wake their conversations, and `relay` does it again.
 *
 * @module-tag long
 */
import { expect, inject, test } from 'vitest';
import { LambdaPool } from '../../../../infra/local/aws/lambda/lambda-pool.ts';
import type { PhoneMessage } from '../../../../infra/local/simulators/app-network/inbox.ts';
import { serveOwnStack } from '../../support/own-stack.ts';
import { newPhone } from '../../support/world.ts';

const MINUTE = 60_000;

/** Functions of which `relay` waits for a promise. */
const heldRelay = (release: Promise<void>) =>
  class extends LambdaPool {
    readonly #isRelay: boolean;

    constructor(...[definition, ...others]: ConstructorParameters<typeof LambdaPool>) {
      super(definition, ...others);
      this.#isRelay = definition.id.startsWith('RelayFunction');
    }

    override async invoke(event: unknown): Promise<unknown> {
      if (this.#isRelay) await release;
      return super.invoke(event);
    }
  };

test('single messages, those of chat platforms and those of users are delivered while relay does not run, and not again after it', async () => {
  const { promise, resolve: release } = Promise.withResolvers<void>();
  const lines: string[] = [];
  const { stack, app, demo } = await serveOwnStack({
    name: 'at-once',
    // No sweep runs within this time.
    minute: MINUTE,
    dynamodbEndpoint: inject('stack').dynamodb_endpoint,
    functions: heldRelay(promise),
    onLine: (_, line) => void lines.push(line),
  });
  const post = async (url: string, body: object): Promise<void> => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${demo.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(response.status, await response.text()).toBeLessThan(300);
  };
  const [single, onRapidpro, onTurn, tested] = [newPhone(), newPhone(), newPhone(), newPhone()];
  const text = { text: 'Hello' };
  await post(`${stack.baseUrl}/v1/message`, { to: single, type: 'text', text: { body: 'Hello' } });
  // Both bots reply through the bridge.
  await post(`${app.phoneUrl}/phones/${onRapidpro}/messages`, { to: demo.bot_phone_number, ...text });
  await post(`${app.phoneUrl}/phones/${onTurn}/messages`, { to: demo.turn_bot_phone_number, ...text });
  await post(`${stack.bridgeUrl}/webhook/${demo.bot_phone_number}`, {
    message: { from: tested, type: 'text', text: { body: 'Hello' } },
  });

  const phones = [single, onRapidpro, onTurn, tested];
  const shown = async (): Promise<(PhoneMessage | undefined)[][]> =>
    Promise.all(
      phones.map(async (phone) => {
        const response = await fetch(`${app.phoneUrl}/phones/${phone}/messages?all=true`);
        return (await response.json()) as PhoneMessage[];
      }),
    );
  const once = phones.map(() => [expect.objectContaining({ attempts: 1, taken: true })]);
  await expect.poll(shown).toEqual(once);
  expect(lines.some((line) => line.includes('"message":"relay"'))).toBe(false);

  release();
  const relayed = () =>
    lines
      .filter((line) => line.includes('"message":"relay"'))
      .reduce((sum, line) => sum + Number(JSON.parse(line).entries ?? 0), 0);
  // A message from each of three users, and one to each of four.
  await expect.poll(relayed).toBeGreaterThanOrEqual(7);
  await expect
    .poll(() => Object.values(stack.queueCounts()).reduce((sum, { visible, inFlight }) => sum + visible + inFlight, 0))
    .toBe(0);
  expect(await shown()).toEqual(once);
});
