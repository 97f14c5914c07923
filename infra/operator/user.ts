/** `operator user …`: users of the mobile app. */
import type { Command } from 'commander';
import { findUser, registerUser } from '../../shared/users.ts';
import { answer } from './output.ts';
import { examples, readPhoneNumber } from './usage.ts';

export const addUserCommands = (program: Command): void => {
  const user = program.command('user').description('Users of the mobile app.');

  user
    .command('set')
    .description(
      'Registers a user, or changes whether a registered one is a panelist. Without either option a new user is no panelist, and a registered one stays what they are.',
    )
    .argument('<phone>', 'in international format without +, 7 to 15 digits', readPhoneNumber)
    .option('--panelist', 'the user is a panelist')
    .option('--no-panelist', 'the user is not a panelist')
    .addHelpText('after', examples('user set 27820000001 --panelist', 'user set 27820000001 --no-panelist'))
    .action(async (phone: string, options: { panelist?: boolean }, command: Command) => {
      const panelist = options.panelist ?? (await findUser(phone))?.panelist ?? false;
      const changed = await registerUser({ phone_number: phone, panelist });
      const words = `${phone} is registered, ${panelist ? 'a panelist' : 'not a panelist'}`;
      answer(command, { phone_number: phone, panelist, changed }, changed ? `${words}.` : `${words}, as before.`);
    });
};
