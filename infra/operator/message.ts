/** `operator message …`: what became of a message. */
import type { Command } from 'commander';
import { Refusal } from '../../shared/accounts.ts';
import { type Story, storyOf } from '../../shared/messages.ts';
import { uuid } from '../../shared/text.ts';
import type { Attempts } from '../../shared/waiting.ts';
import { answer, columns, due, fields, masked, second } from './output.ts';
import { examples, readBy } from './usage.ts';

export const addMessageCommands = (program: Command): void => {
  const message = program.command('message').description('Messages between accounts and users of the app.');

  message
    .command('show')
    .description(
      `Shows what became of a message, and whether it still waits. What it says is not shown.

People get the user's number in part; --json has it in full.`,
    )
    .argument('<id>', "the message's id", readBy(uuid))
    .addHelpText('after', examples('message show 0199a3f2-7c4e-7d10-9b1a-5f0c2e8d4b6a'))
    .action(async (id: string, _options: object, command: Command) => {
      const story = await storyOf(id);
      if (story === undefined)
        throw new Refusal(`There is no message ${id}. Messages are kept for as long as the logs.`);
      answer(command, inJson(story), inWords(story));
    });
};

const inJson = ({
  id,
  account,
  phone,
  job_id,
  payload_type,
  reported,
  direction,
  states,
  waiting,
  reports,
}: Story) => ({
  id,
  account,
  phone_number: phone,
  direction,
  job_id,
  payload_type,
  states,
  waiting: waiting && attemptsInJson(waiting),
  reported: reported ?? false,
  waiting_reports: reports && { states: reports.states, ...attemptsInJson(reports) },
});

const attemptsInJson = ({ failed, cause, next }: Attempts) => ({ failed_attempts: failed, cause, next_attempt: next });

const inWords = ({ id, account, phone, job_id, payload_type, direction, states, ...rest }: Story): string => {
  const { waiting, reported, reports } = rest;
  const about = fields({
    Message: id,
    Account: account,
    Direction: direction === 'app' ? 'to the user (app)' : 'from the user (platform)',
    User: masked(phone),
    Job: job_id,
    Type: payload_type || 'unknown',
    Waits: waiting ? `yes, ${attemptsInWords(waiting)}` : 'no',
    // Of users' own messages nothing is reported.
    ...(direction === 'app' && { Reported: reported ? 'to the platform' : 'no' }),
    ...(reports && { Unreported: `${reports.states.join(', ')}, ${attemptsInWords(reports)}` }),
  });
  const log = columns(
    ['STATE', 'REACHED', 'REASON'],
    states.map(({ state, created, reason = '' }) => [state, second(created), reason]),
  );
  return `${about}\n\n${log}`;
};

const attemptsInWords = ({ failed, cause, next }: Attempts): string =>
  [
    `next attempt ${due(next)}`,
    ...(failed > 0 ? [`${failed} failed in a row`] : []),
    ...(cause === undefined ? [] : [`cause ${cause}`]),
  ].join(', ');
