/** The checks of `operator doctor` on the local stack. */
import type { ClockView } from '../local-stack/clock-view.ts';
import type { StackFile } from '../local-stack/stack-file.ts';
import { count } from '../output.ts';
import { listAccounts } from '../queries/accounts-admin.ts';
import { attention, type Check, check, failed, ok } from './check.ts';
import { queueLengthIn } from './queues.ts';

const START_AGAIN = 'Start the local stack again with "npm start".';

/** Makes the checks, one after the other. */
export async function* checksHere(stack: StackFile): AsyncGenerator<Check> {
  yield check('Table', undefined, async () => {
    const accounts = await listAccounts();
    return ok(accounts.length === 1 ? '1 account' : `${count(accounts.length)} accounts`);
  });
  yield check('Queues', undefined, async () => {
    const waiting = await queueLengthIn(stack.queues, stack.aws_endpoint)('DeadLetters');
    return waiting === 0
      ? ok('no dead letters')
      : attention(`dead letters: ${count(waiting)}`, 'See the section DeadLetters of the runbooks.');
  });
  yield answers('API host', `${stack.base_url}/v1/openapi.json`);
  yield answers('Phone', stack.phone_url);
  yield check('Clock', undefined, async () => {
    const view = (await (await fetch(`${stack.phone_url}/clock`)).json()) as ClockView;
    if (view.ahead_s === 0 && view.rate === 1) return ok('real time');
    return attention(`at ${view.time}`, 'Run "npm run stack -- clock real" for real time.');
  });
}

const answers = async (name: string, url: string): Promise<Check> => {
  const status = await fetch(url).then(
    (response) => response.status,
    () => undefined,
  );
  if (status === 200) return { name, ...ok('answers') };
  return { name, ...failed(status === undefined ? 'does not answer' : `answers with ${status}`, START_AGAIN) };
};
