/** Settings of a deployment, with defaults that suit production. `stages.ts` reads them from the stage's file. */
import * as v from 'valibot';
import { eraseSteps, sweepSteps } from '../shared/api/workers.ts';
import { builtInNames, grants } from '../shared/users/profile-properties.ts';
import { recordOf } from '../shared/validation/bounded.ts';
import { bundlings } from './bundle/bundle.ts';

const wholeNumber = (min: number) =>
  v.pipe(
    v.union([v.number(), v.pipe(v.string(), v.regex(/^\d+$/), v.transform(Number))]),
    v.integer(),
    v.minValue(min),
  );

const domainName = v.pipe(v.string(), v.regex(/^([a-z0-9-]+\.)+[a-z]{2,}$/, 'must be a domain name'));

/** Maximum concurrency of a queue's event source mapping (Lambda API reference, "ScalingConfig"). */
const MOST_WORKERS = 1_000;

/** The slots of an account are one item, of which each change costs a write unit for 75 slots. */
const MOST_WAITS = 1_000;

/**
 * Executions that Lambda keeps for functions without reserved concurrency: "You can reserve concurrency for as many
 * functions as you like, as long as you leave at least 100 simultaneous executions unreserved" (Lambda API reference,
 * PutFunctionConcurrency).
 */
const UNRESERVED = 100;

/**
 * A property's name: a part of DynamoDB expressions, which have at most 4 KB (DynamoDB developer guide, "Quotas"), and of
 * an environment variable. The variables of a function have at most 4 KB (Lambda developer guide, "Lambda quotas").
 */
const propertyName = v.pipe(
  v.string(),
  v.regex(/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/, 'a name consists of lower-case words with underscores between them'),
  v.maxLength(30, 'a name has at most 30 characters'),
  v.check((name) => !builtInNames.includes(name), 'the service has a property with this name'),
);

/** With more, alarms that compare exact failures with the deliveries of a quarter of an hour would often be wrong. */
const MOST_SAMPLING = 10;

/** Most properties of a deployment. */
const MOST_PROPERTIES = 30;

const flag = v.pipe(
  v.union([v.boolean(), v.picklist(['true', 'false'])]),
  v.transform((value) => String(value) === 'true'),
);

const settings = v.object({
  /** The name of the deployment. An AWS account may have several. */
  stage: v.optional(
    v.pipe(v.string(), v.regex(/^[a-z][a-z0-9-]{0,24}$/, 'must be lower-case words of at most 25 characters')),
    'production',
  ),
  /** Custom domain of the API host, and the ARN of its certificate in the same region. */
  baseDomain: v.optional(domainName),
  baseCertificate: v.optional(v.string()),
  /** The same for the bridge host. */
  bridgeDomain: v.optional(domainName),
  bridgeCertificate: v.optional(v.string()),
  /** The domain in a contact's identifier, after phone number and @. */
  jidDomain: v.optional(domainName, 'users.example.com'),
  /** Retention of log lines in days: one of the periods of CloudWatch Logs. */
  logRetention: v.optional(
    v.pipe(
      wholeNumber(1),
      v.picklist([
        1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
      ]),
    ),
    30,
  ),
  /**
   * The lines `accepted`, `delivered` and `state` are written for one message or user data request in so many, and each counts for
   * all in metrics. Lines of requests and of failures are always written.
   */
  logSampling: v.optional(v.pipe(wholeNumber(1), v.maxValue(MOST_SAMPLING)), 1),
  /**
   * The lines of Lambda about calls: `WARN` has those of failed calls, `INFO` also one with duration and memory of each call
   * (Lambda developer guide, "Log-level filtering"). The lines of the service do not depend on it.
   */
  systemLogLevel: v.optional(v.picklist(['WARN', 'INFO']), 'WARN'),
  /** Retention of messages and log entries in days: at least the default period of `GET /v1/stats/logs`. */
  messageRetention: v.optional(wholeNumber(30), 90),
  /** Retention of user data requests and their values, in days. */
  requestRetention: v.optional(wholeNumber(1), 30),
  /** Retention of job counters, in days. */
  counterRetention: v.optional(wholeNumber(30), 400),
  /** Maximum number of concurrent delivery workers. Default: a tenth of `accountConcurrency`, from 2 to 100. */
  deliverConcurrency: v.optional(v.pipe(wholeNumber(2), v.maxValue(MOST_WORKERS))),
  /**
   * Messages per second that the batches of a customer are expanded to. An index partition accepts about 1,000 writes per
   * second, and the log of a customer's messages is one.
   */
  campaignRate: v.optional(v.pipe(wholeNumber(1), v.maxValue(900)), 500),
  /** Executions that are reserved for fetching user data, and their maximum number. Default: none are reserved. */
  fetchConcurrency: v.optional(wholeNumber(1)),
  /** Maximum number of simultaneous long polls per customer. Default: a twentieth of `accountConcurrency`, from 1 to 50. */
  waitsPerAccount: v.optional(v.pipe(wholeNumber(1), v.maxValue(MOST_WAITS))),
  /** Whether users see another name of a business only after an operator has approved it. */
  approveNames: v.optional(flag, true),
  /** Whether functions call AWS at the hosts that FIPS 140 validates, which only some regions have. */
  fips: v.optional(flag, false),
  /** Lambda's limit of concurrent executions for this AWS account and region. */
  accountConcurrency: v.optional(wholeNumber(10), 1_000),
  /** Email address that alarms are sent to, by a topic of the stack's own. */
  alarmEmail: v.optional(v.pipe(v.string(), v.email('must be an email address'))),
  /** ARN of an SNS topic that alarms are sent to. */
  alarmTopic: v.optional(v.pipe(v.string(), v.startsWith('arn:', 'must be an ARN'))),
  /** Age in minutes of a pending entry that raises an alarm. */
  alarmAge: v.optional(wholeNumber(1), 60),
  /** Limit of the 99th percentile of the time from acceptance to delivery of messages to users, in seconds. */
  alarmLatency: v.optional(wholeNumber(1), 30),
  /** Budget of the AWS account for a month, in US dollars; `alarmEmail` is notified. */
  monthlyBudget: v.optional(wholeNumber(1)),
  /** Requests per second that each host accepts, sustained and in bursts. */
  throttleRate: v.optional(wholeNumber(1), 500),
  throttleBurst: v.optional(wholeNumber(1), 1_000),
  /** Requests per second of an account, sustained and in bursts, unless the account has a limit of its own. */
  accountRate: v.optional(wholeNumber(1), 100),
  accountBurst: v.optional(wholeNumber(1), 200),
  /** Phone numbers that a customer may ask for on a day, with `POST /v1/contacts` and `GET /v1/users/{user}`. */
  contactAllowance: v.optional(wholeNumber(1), 100_000),
  /** Profile properties besides those of the service: each name with `automatic` or, if the user must agree, `approval`. */
  moreProperties: v.optional(
    recordOf(propertyName, v.picklist(grants, 'must be automatic or approval'), { max: MOST_PROPERTIES }),
    {},
  ),
  /** Audiences that a customer may count on a day, with `POST /v1/audience`. */
  audienceAllowance: v.optional(wholeNumber(1), 100),
  /** Write units per second that the table handles at once. A new table handles 4,000. The value can only be raised. */
  warmWriteUnits: v.optional(wholeNumber(4_000)),
  /** Read units per second that the table handles at once. A new table handles 12,000. The value can only be raised. */
  warmReadUnits: v.optional(wholeNumber(12_000)),
  /** Name of a table that the stack uses instead of creating one, and the ARN of its stream. */
  existingTable: v.optional(v.pipe(v.string(), v.regex(/^[\w.-]{3,255}$/, 'must be the name of a table'))),
  existingTableStream: v.optional(
    v.pipe(
      v.string(),
      v.regex(
        /^arn:[\w-]+:dynamodb:[\w-]+:\d{12}:table\/[\w.-]+\/stream\/[\w:.-]+$/,
        "must be the ARN of a table's stream",
      ),
    ),
  ),
  /** Whether deleting the stack deletes its data. `retain` also protects the table from deletion. */
  removalPolicy: v.optional(v.picklist(['retain', 'destroy']), 'retain'),
  /** Tags of the stack and its resources, besides `service` and `stage`. */
  tags: v.optional(
    v.record(
      v.pipe(
        v.string(),
        v.regex(
          /^(?!aws:)[\p{L}\p{N} _.:/=+@-]{1,128}$/iu,
          'a tag has 1 to 128 letters, digits, spaces or _.:/=+-@, and does not begin with aws:',
        ),
      ),
      v.pipe(
        v.string(),
        v.regex(/^[\p{L}\p{N} _.:/=+@-]{0,256}$/u, "a tag's value has at most 256 letters, digits, spaces or _.:/=+-@"),
      ),
    ),
    {},
  ),
  /** How functions are bundled. `mapped` makes traces readable, and cold starts slower. */
  bundling: v.optional(v.picklist(bundlings), 'minified'),
  /** Conditions of `imports` in package.json. The local stack sets one; a deployed stack has none. */
  conditions: v.optional(v.array(v.string()), []),
  /** Whether the documentation is built. A deployed stack has it; the local stack builds it when somebody opens it. */
  documentation: v.optional(v.boolean(), true),
});

type Given = v.InferOutput<typeof settings>;

/** Settings with defaults that depend on others. */
type Derived = 'deliverConcurrency' | 'waitsPerAccount';

export type Settings = Omit<Given, Derived> & Record<Derived, number>;

/** The names of all settings. */
export const settingNames: readonly string[] = Object.keys(settings.entries);

/**
 * Checks settings, and adds the defaults of those that are not given.
 *
 * @param source - where they come from, for the error
 * @throws Error — the message names each invalid setting, with the reason
 */
export const readSettings = (given: Record<string, unknown>, source = 'given by a program'): Settings => {
  const { success, output, issues } = v.safeParse(settings, given);
  const wrong = [
    ...Object.keys(given).flatMap((name) => (settingNames.includes(name) ? [] : [`${name}: there is no such setting`])),
    ...(success
      ? [
          ...unpaired(output),
          ...notDeployable(output),
          ...withoutRecipient(output),
          ...beyondAccount(output),
          ...unfitForExisting(output),
          ...burstBelowRate(output),
        ]
      : issues.map((issue) => `${v.getDotPath(issue)}: ${issue.message}`)),
  ];
  if (!success || wrong.length > 0) throw new Error(`Settings are wrong (${source}): ${wrong.join('; ')}`);
  const all = output.accountConcurrency;
  return {
    ...output,
    deliverConcurrency: output.deliverConcurrency ?? within(2, all / 10, 100),
    waitsPerAccount: output.waitsPerAccount ?? within(1, all / 20, 50),
  };
};

/** A whole number, at least and at most. */
const within = (min: number, value: number, most: number): number => Math.min(Math.max(Math.floor(value), min), most);

/** How many long polls may wait at once: half of the AWS account's concurrency, so that the rest is left for all else. */
export const waitsInAll = ({ accountConcurrency }: Settings): number => Math.floor(accountConcurrency / 2);

/** Workers of `expand`, each for one account. */
export const expandWorkers = (accountConcurrency: number): number => within(2, accountConcurrency / 50, 20);

/** Batches of a shard of the stream that `relay` handles at the same time, and `count` as well. */
export const batchesOfShard = (accountConcurrency: number): number => within(1, accountConcurrency / 100, 4);

/** Shards of a new table's stream. */
const SHARDS = 4;

/** How the AWS account's concurrent executions are shared. */
export interface Executions {
  /** Long polls of all customers, and of one. */
  longPolls: number;
  longPollsOfOne: number;
  deliver: number;
  expand: number;
  /** `relay` and `count` together, with the four shards of a new table. */
  streamWorkers: number;
  /** The steps of `sweep` and `erase`, which begin each minute. */
  minuteWorkers: number;
  /** What is left for the authorizer and the other endpoints while all of these are at their maximum. */
  others: number;
}

/** The maximum of each kind of function with these settings. */
export const executionsOf = (settings: Settings): Executions => {
  const { accountConcurrency: all, fetchConcurrency = all, waitsPerAccount, deliverConcurrency: deliver } = settings;
  const longPolls = Math.min(waitsInAll(settings), fetchConcurrency);
  const expand = expandWorkers(all);
  const streamWorkers = 2 * SHARDS * batchesOfShard(all);
  const minuteWorkers = sweepSteps.length + eraseSteps.length;
  return {
    longPolls,
    longPollsOfOne: Math.min(waitsPerAccount, longPolls),
    deliver,
    expand,
    streamWorkers,
    minuteWorkers,
    others: Math.max(all - longPolls - deliver - expand - streamWorkers - minuteWorkers, 0),
  };
};

/** Errors for what Lambda rejects, or never reaches, with the AWS account's concurrency. */
const beyondAccount = (given: Given): string[] => {
  const { accountConcurrency: all, fetchConcurrency: reserved = 0 } = given;
  const reservable = Math.max(all - UNRESERVED, 0);
  return [
    ...(reserved > reservable
      ? [
          `fetchConcurrency: must be at most ${reservable}, because Lambda leaves ${UNRESERVED} executions unreserved, and ` +
            `accountConcurrency is ${all}; ${reservable > 0 ? 'lower it' : 'remove it'}, or have the limit raised`,
        ]
      : []),
    ...(['deliverConcurrency', 'waitsPerAccount'] as const).flatMap((name) =>
      (given[name] ?? 0) <= all ? [] : [`${name}: must be at most accountConcurrency, ${all}`],
    ),
  ];
};

/** Errors for functions that work only on the machine where they were bundled. */
const notDeployable = ({ bundling, conditions }: Given): string[] =>
  (bundling === 'split' || bundling === 'linked') && conditions.length === 0
    ? [`bundling: ${bundling} is for the local stack only; give minified or mapped`]
    : [];

/** Errors for a budget that notifies no one. */
const withoutRecipient = ({ monthlyBudget, alarmEmail }: Given): string[] =>
  monthlyBudget !== undefined && alarmEmail === undefined ? ['monthlyBudget: requires alarmEmail'] : [];

/** Errors for a table that exists: without its stream, or with settings that only a table of the stack can have. */
const unfitForExisting = (given: Given): string[] => {
  const { existingTable, existingTableStream, removalPolicy } = given;
  if (existingTable === undefined && existingTableStream === undefined) return [];
  const isItsStream = existingTableStream?.includes(`:table/${existingTable}/stream/`) === true;
  return [
    ...(isItsStream ? [] : ['existingTable and existingTableStream: give both, of the same table']),
    ...(removalPolicy === 'destroy'
      ? ['existingTable: requires removalPolicy retain, or the table that it replaces would be deleted']
      : []),
    ...(['warmWriteUnits', 'warmReadUnits'] as const).flatMap((name) =>
      given[name] === undefined ? [] : [`${name}: set the warm throughput of an existing table yourself`],
    ),
  ];
};

/** Errors for a burst that no second can have. */
const burstBelowRate = ({ accountRate, accountBurst }: Given): string[] =>
  accountBurst < accountRate ? ['accountBurst: must be at least accountRate'] : [];

/** Errors for a domain without a certificate, or a certificate without a domain. */
const unpaired = (given: Given): string[] =>
  (['base', 'bridge'] as const).flatMap((host) =>
    (given[`${host}Domain`] === undefined) === (given[`${host}Certificate`] === undefined)
      ? []
      : [`${host}Domain and ${host}Certificate: give both or neither`],
  );
