/** What `operator status` shows: from the table and the queues, and in AWS also the alarms. */
import * as v from 'valibot';
import { findStack } from '../local-stack/stack-file.ts';
import { UserError } from '../queries/accounts-admin.ts';
import { countPostponedBatches } from '../queries/jobs-admin.ts';
import { type Backlog, readBacklog } from '../queries/outbox-inspection.ts';
import { cloudFormation, resourcesOf } from '../stack-outputs.ts';
import { deployment } from '../target.ts';
import { callAws } from './aws.ts';
import { isDenied } from './check.ts';
import { type QueueLength, queueLengthIn } from './queues.ts';

/** An alarm in the state ALARM. */
export interface RaisedAlarm {
  /** Its name in the runbooks. */
  name: string;
  /** What is wrong, and the section of the runbook. */
  meaning: string;
  /** Since when, in ISO 8601. */
  since: string;
}

/** A value, or the right that the credentials lack to read it. */
export type Read<Value> = { value: Value } | { lacks: string };

export interface Figures {
  /** Undefined on the local stack, which has no alarms. */
  alarms: Read<RaisedAlarm[]> | undefined;
  backlog: Backlog;
  postponedBatches: number;
  wakeUps: Read<number>;
  expansions: Read<number>;
  failedBatches: Read<number>;
  deadLetters: Read<number>;
}

/** Where figures are read. */
export interface Source {
  lengthOf: QueueLength;
  readAlarms?: () => Promise<RaisedAlarm[]>;
}

/** Reads all figures. */
export const readFigures = async ({ lengthOf, readAlarms }: Source): Promise<Figures> => {
  const length = (name: Parameters<QueueLength>[0]) => allowed('sqs:GetQueueAttributes', () => lengthOf(name));
  const [alarms, backlog, postponedBatches, wakeUps, expansions, failedBatches, deadLetters] = await Promise.all([
    readAlarms && allowed('cloudwatch:DescribeAlarms', readAlarms),
    readBacklog(),
    countPostponedBatches(),
    length('WakeUps'),
    length('Expansions'),
    length('FailedBatches'),
    length('DeadLetters'),
  ]);
  return { alarms, backlog, postponedBatches, wakeUps, expansions, failedBatches, deadLetters };
};

const allowed = async <Value>(right: string, read: () => Promise<Value>): Promise<Read<Value>> => {
  try {
    return { value: await read() };
  } catch (error) {
    if (isDenied(error)) return { lacks: right };
    throw error;
  }
};

/**
 * The queues and the alarms of the command's deployment.
 *
 * @throws UserError — the command names a table, or the credentials may not list the resources of the stack
 */
export const sourceOfFigures = async (): Promise<Source> => {
  const { runs, stack } = deployment();
  if (stack !== undefined) return sourceInAws(stack);
  const local = runs === 'here' ? await findStack() : undefined;
  if (local === undefined) throw new UserError('A table has no queues and alarms: name its stack with --stack.');
  return { lengthOf: queueLengthIn(local.queues, local.aws_endpoint) };
};

const sourceInAws = async (stack: string): Promise<Source> => {
  const resources = await resourcesOf(stack);
  const idsOf = (type: string): [string, string][] =>
    resources.flatMap(({ ResourceType, LogicalResourceId = '', PhysicalResourceId }) =>
      ResourceType === type && PhysicalResourceId !== undefined ? [[LogicalResourceId, PhysicalResourceId]] : [],
    );
  const alarms = new Map(idsOf('AWS::CloudWatch::Alarm').map(([id, name]) => [name, id]));
  return {
    lengthOf: queueLengthIn(Object.fromEntries(idsOf('AWS::SQS::Queue'))),
    readAlarms: () => raisedAlarms(alarms),
  };
};

const described = v.object({
  MetricAlarms: v.array(
    v.object({
      AlarmName: v.string(),
      AlarmDescription: v.optional(v.string(), ''),
      /** Seconds since 1970. */
      StateUpdatedTimestamp: v.number(),
    }),
  ),
});

/** @param ids - the logical ids of the stack's alarms, by name; a response describes up to a hundred */
const raisedAlarms = async (ids: ReadonlyMap<string, string>): Promise<RaisedAlarm[]> => {
  const client = await cloudFormation();
  try {
    const target = 'GraniteServiceVersion20100801.DescribeAlarms';
    const input = { AlarmNames: [...ids.keys()], StateValue: 'ALARM', MaxRecords: 100 };
    const text = await callAws(client.config, { service: 'monitoring', target, version: '1.0', input });
    return v.parse(described, JSON.parse(text)).MetricAlarms.flatMap((alarm) => {
      const id = ids.get(alarm.AlarmName);
      // Without names, CloudWatch describes all alarms of the account.
      if (id === undefined) return [];
      return {
        name: id.replace(/^Alarms/, '').slice(0, -8),
        meaning: alarm.AlarmDescription,
        since: new Date(alarm.StateUpdatedTimestamp * 1000).toISOString(),
      };
    });
  } finally {
    client.destroy();
  }
};
