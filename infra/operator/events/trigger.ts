/** `operator trigger`: creates events of the app on the local stack, as its simulated app network reports them. */
import { Argument, type Command } from 'commander';
import * as v from 'valibot';
import { reasonIn, reportOf } from '../local-stack/report.ts';
import { findStack, type StackFile } from '../local-stack/stack-file.ts';
import { printResult } from '../output.ts';
import { UserError } from '../queries/accounts-admin.ts';
import { deployment } from '../target.ts';
import { examples, readBy, readPhoneNumber } from '../usage.ts';
import { appEvents, type EventFields, type FieldName, type Source } from './app-events.ts';

const flags: Record<FieldName, string> = {
  from: '--from',
  to: '--to',
  text: '--text',
  id: '--id',
  reason: '--reason',
  phoneNumber: '--phone-number',
  panelist: '--panelist',
  property: '--property',
};

const readBoolean = readBy(
  v.pipe(
    v.picklist(['true', 'false'], 'must be true or false'),
    v.transform((text) => text === 'true'),
  ),
);

const names = Object.keys(appEvents);

const listOfEvents = Object.entries(appEvents)
  .map(
    ([name, { says, type, fields }]) =>
      `  ${name.padEnd(18)} ${says} (${type}: ${fields.map((field) => flags[field]).join(', ')})`,
  )
  .join('\n');

export const addTriggerCommand = (program: Command): void => {
  program
    .command('trigger')
    .description(
      `Creates an event of the app on the local stack: its simulated app network reports it to the service. The options are the fields of the event in the API description.

${listOfEvents}`,
    )
    .addArgument(new Argument('<event>', 'what happens').choices(names))
    .option('--from <number>', "the user (default: the demo's panelist)", readPhoneNumber)
    .option('--phone-number <number>', "the user (default: the demo's panelist)", readPhoneNumber)
    .option('--to <number>', "the business's bot (default: the demo's bot)", readPhoneNumber)
    .option('--text <text>', 'what the user writes (default: Hello)')
    .option('--id <id>', 'the message or user data request (default: the last on the phone); of a user, a UUID')
    .option('--reason <text>', 'why the message did not arrive')
    .option('--panelist <boolean>', 'whether the user takes part in research', readBoolean)
    .option('--property <name...>', 'names of properties (default: all of the request); NAME=VALUE for user-updated')
    .addHelpText(
      'after',
      examples(
        'trigger user-writes --text "Good morning"',
        'trigger message-read',
        'trigger user-updated --phone-number 27820000001 --property first_name=Thandi',
        'trigger consent-approved --property first_name',
      ),
    )
    .action(async (name: string, given: EventFields, command: Command) => {
      const kind = appEvents[name];
      if (kind === undefined) throw new Error(`There is no event ${name}.`);
      const surplus = (Object.keys(given) as FieldName[]).filter((field) => !kind.fields.includes(field));
      const [first] = surplus;
      if (first !== undefined) {
        const taken = kind.fields.map((field) => flags[field]).join(', ');
        command.error(`error: ${name} has no ${flags[first]}; it takes ${taken}`);
      }
      const stack = await localStack();
      const data = await kind.dataOf(given, sourceOf(stack));
      const report = reportOf(kind.type, { ...data });
      if (report === undefined) throw new Error(`The app network cannot report ${kind.type}.`);
      const response = await fetch(stack.phone_url + report.path, {
        method: report.method,
        ...(report.body && { body: JSON.stringify(report.body) }),
      });
      const body = await response.text();
      if (!response.ok) {
        const reason = reasonIn({ status: response.status, body });
        throw new UserError(`The service rejects ${kind.type} with ${response.status}: ${reason}`);
      }
      const result = v.parse(reported, JSON.parse(body));
      printResult(command, result, `${kind.type} ${result.event.id}: accepted with ${result.status}.`);
    });
};

const reported = v.object({ event: v.looseObject({ id: v.string() }), status: v.number() });

/** @throws UserError — the command names a stack or a table in AWS */
const localStack = async (): Promise<StackFile> => {
  const stack = await findStack();
  if (deployment().runs !== 'here' || stack === undefined) {
    throw new UserError('Events can be created on the local stack only: start it with "npm start", without --stack.');
  }
  return stack;
};

const shown = v.array(
  v.looseObject({
    type: v.string(),
    data: v.looseObject({ id: v.string(), properties: v.optional(v.array(v.looseObject({ property: v.string() }))) }),
  }),
);

const sourceOf = (stack: StackFile): Source => {
  const last = async (phone: string, type: string) => {
    const response = await fetch(`${stack.phone_url}/phones/${phone}/messages`);
    return v.parse(shown, await response.json()).findLast((one) => one.type === type)?.data;
  };
  return {
    stack,
    lastMessage: async (phone) => (await last(phone, 'message.send'))?.id,
    lastRequest: async (phone) => {
      const request = await last(phone, 'user_data.request');
      return request && { id: request.id, properties: request.properties?.map(({ property }) => property) ?? [] };
    },
  };
};
