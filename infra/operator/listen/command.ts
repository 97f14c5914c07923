/** `operator listen`: forwards the events of an account's webhook to a program of this machine. */
import type { Command } from 'commander';
import * as v from 'valibot';
import { inDays, RETRY_DAYS } from '../../../shared/core/lifetimes.ts';
import { noteChanges, printChange } from '../history/record.ts';
import { count, printNote } from '../output.ts';
import { UserError } from '../queries/accounts-admin.ts';
import { deployment } from '../target.ts';
import { confirm } from '../terminal/confirm.ts';
import { watchSignals } from '../terminal/signals.ts';
import { examples, readBy } from '../usage.ts';
import { type Handled, listen } from './listener.ts';
import { beginListening, endListening, modeOf, pendingEvents } from './mode.ts';
import { Session } from './session.ts';
import { Explanations, jsonOf, lineOf } from './show.ts';

interface Given {
  to?: URL;
  end?: true;
  follow: boolean;
}

const readUrl = readBy(
  v.pipe(
    v.string(),
    v.check((text) => /^https?:/.test(URL.parse(text)?.protocol ?? ''), 'must be a URL with http: or https:'),
    v.transform((text) => new URL(text)),
  ),
);

export const addListenCommand = (program: Command): void => {
  program
    .command('listen')
    .description(
      `Forwards the events of an account's webhook to a program, until Ctrl-C: so a program can receive them that has no public URL. Order, ids, signatures and retries are those of a webhook.

From the first time on, the events wait for listeners, also while none is running. --end sends them to the account's URL again. An account without a chat platform gets a webhook without a URL, whose secret is shown once. Several listeners share the events. With --json, prints one JSON object for each event.`,
    )
    .argument('<account>', "the account's id")
    .option('--to <url>', 'the http or https URL of the program, for example http://localhost:8080/hook', readUrl)
    .option('--no-follow', 'end when no event is due within a few seconds')
    .option('--end', "send the account's events to its URL again; without a URL, remove its webhook")
    .addHelpText(
      'after',
      examples(
        'listen acme-research --to http://localhost:8080/hook',
        'listen acme-research --to http://localhost:8080/hook --stack business-api-staging',
        'listen acme-research --end',
      ),
    )
    .action(async (account: string, { to, end, follow }: Given, command: Command) => {
      if ((to === undefined) === (end === undefined)) command.error('error: give either --to or --end');
      if (to === undefined) await endMode(account, command);
      else await forwardEvents(account, to, follow, command);
    });
};

const forwardEvents = async (account: string, to: URL, follow: boolean, command: Command): Promise<void> => {
  const { hosts } = deployment();
  if (hosts === undefined) throw new UserError('A table has no API: name its stack with --stack instead of --table.');
  await beginMode(account, command);
  const stop = new AbortController();
  const signals = watchSignals(() => stop.abort());
  const session = new Session({ base: hosts.base, account, stop: stop.signal, note: printNote });
  try {
    printNote(`Forwarding the events of "${account}" to ${to.href}${follow ? '. Ctrl-C ends this' : ''}.`);
    const onHandled = printer(to, command);
    await listen({ session, to, follow, stop: stop.signal, onHandled });
    printNote(
      `From now on, the events of "${account}" wait for the next listener. "listen ${account} --end" ends this.`,
    );
  } finally {
    await session.close();
    signals.stop();
  }
};

const printer = (to: URL, command: Command): ((handled: Handled) => void) => {
  const { json } = command.optsWithGlobals<{ json?: true }>();
  const explanations = new Explanations(to);
  return (handled) => {
    process.stdout.write(`${json ? jsonOf(handled) : lineOf(handled)}\n`);
    const explanation = explanations.of(handled.forwarded);
    if (explanation !== undefined) printNote(explanation);
  };
};

/** Directs the account's events to listeners, unless they are already. */
const beginMode = async (account: string, command: Command): Promise<void> => {
  const { isListening, url } = await modeOf(account);
  if (isListening) return;
  if (url !== undefined) {
    const consequence = `The events of "${account}" no longer go to ${url}: they wait for listeners until "listen ${account} --end".`;
    await confirm(command, consequence);
  }
  const secret = await beginListening(account);
  noteChanges(`${secret === undefined ? '' : 'Made a webhook. '}The events of "${account}" wait for listeners.`);
  if (secret === undefined) return;
  printNote(`Account "${account}" has a webhook now. Its signing secret: ${secret}`);
  printNote('Copy the secret now: it will not be shown again.');
};

const endMode = async (account: string, command: Command): Promise<void> => {
  const { isListening, url } = await modeOf(account);
  if (!isListening)
    throw new UserError(`The events of "${account}" do not wait for listeners: there is nothing to end.`);
  const pending = await pendingEvents(account);
  const events = pending === 1 ? '1 pending event' : `${count(pending)} pending events`;
  if (url === undefined && pending > 0) {
    const consequence = `Removes the webhook of "${account}", which has no URL. Waiting ${inDays(RETRY_DAYS)} for another one: ${events}.`;
    await confirm(command, consequence);
  }
  await endListening(account);
  const words =
    url === undefined
      ? `The webhook of "${account}" is removed, because it has no URL. Waiting ${inDays(RETRY_DAYS)} for another one: ${events}.`
      : `The events of "${account}" go to ${url} again. Sent within a minute: ${events}.`;
  printChange(command, { account, url: url ?? null, pending }, words);
};
