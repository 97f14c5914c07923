/**
 * The tests' own stacks.
 *
 * @module-tag long
 */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { createAccount } from '../../../../infra/operator/queries/accounts-admin.ts';
import { serveOwnStack } from '../../support/own-stack.ts';
import { newAccountId, newPhone } from '../../support/world.ts';

test('a test that starts again, with another database, calls the table of its new stack', async () => {
  for (const attempt of [1, 2]) {
    const { stack } = await serveOwnStack({ name: randomUUID(), minute: 1_000 });
    const account = await createAccount({ name: `Attempt ${attempt}`, id: newAccountId(), bot_number: newPhone() });
    expect(account.name).toBe(`Attempt ${attempt}`);
    await stack.close();
  }
});
