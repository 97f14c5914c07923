/** Settings of a deployment, with defaults that suit production. `stages.ts` reads them from the stage's file. */
import * as v from 'valibot';
import { bundlings } from './bundle/bundle.ts';

const wholeNumber = (least: number) =>
  v.pipe(
    v.union([v.number(), v.pipe(v.string(), v.regex(/^\d+$/), v.transform(Number))]),
    v.integer(),
    v.minValue(least),
  );

const domainName = v.pipe(v.string(), v.regex(/^([a-z0-9-]+\.)+[a-z]{2,}$/, 'must be a domain name'));

const settings = v.object({
  /** The name of the deployment. An AWS account may have several. */
  stage: v.optional(v.pipe(v.string(), v.regex(/^[a-z][a-z0-9-]{0,30}$/, 'must be lower-case words')), 'production'),
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
  /** Retention of messages and log entries in days: at least the default period of `GET /v1/stats/logs`. */
  messageRetention: v.optional(wholeNumber(30), 90),
  /** Retention of user data requests and their values, in days. */
  requestRetention: v.optional(wholeNumber(1), 30),
  /** Retention of job counters, in days. */
  counterRetention: v.optional(wholeNumber(30), 400),
  /** Maximum number of concurrent delivery workers. Default: the limit of the AWS account. */
  deliverConcurrency: v.optional(v.pipe(wholeNumber(2), v.maxValue(1_000))),
  /** Maximum number of concurrent long polls for user data. Default: the limit of the AWS account. */
  fetchConcurrency: v.optional(wholeNumber(1)),
  /** Lambda's limit of concurrent executions for this AWS account and region. */
  accountConcurrency: v.optional(wholeNumber(10), 1_000),
  /** Email address that alarms are sent to, by a topic of the stack's own. */
  alarmEmail: v.optional(v.pipe(v.string(), v.email('must be an email address'))),
  /** ARN of an SNS topic that alarms are sent to. */
  alarmTopic: v.optional(v.pipe(v.string(), v.startsWith('arn:', 'must be an ARN'))),
  /** URL of the hosted documentation (`npm run docs`): alarms link to its runbooks. */
  docsUrl: v.optional(v.pipe(v.string(), v.url(), v.startsWith('https://', 'must be an https URL'))),
  /** Age in minutes of a pending entry that raises an alarm. */
  alarmAge: v.optional(wholeNumber(1), 60),
  /** Limit of the 99th percentile of the time from acceptance to delivery of messages to users, in seconds. */
  alarmLatency: v.optional(wholeNumber(1), 30),
  /** Budget of the AWS account for a month, in US dollars; `alarmEmail` is notified. */
  monthlyBudget: v.optional(wholeNumber(1)),
  /** Requests per second that each host accepts, sustained and in bursts. */
  throttleRate: v.optional(wholeNumber(1), 500),
  throttleBurst: v.optional(wholeNumber(1), 1_000),
  /** Write units per second that the table handles at once. A new table handles 4,000. The value can only be raised. */
  warmWriteUnits: v.optional(wholeNumber(4_000)),
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
});

export type Settings = v.InferOutput<typeof settings>;

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
      ? [...unpaired(output), ...withoutRecipient(output)]
      : issues.map((issue) => `${v.getDotPath(issue)}: ${issue.message}`)),
  ];
  if (!success || wrong.length > 0) throw new Error(`Settings are wrong (${source}): ${wrong.join('; ')}`);
  return output;
};

/** Errors for a budget that notifies no one. */
const withoutRecipient = ({ monthlyBudget, alarmEmail }: Settings): string[] =>
  monthlyBudget !== undefined && alarmEmail === undefined ? ['monthlyBudget: requires alarmEmail'] : [];

/** Errors for a domain without a certificate, or a certificate without a domain. */
const unpaired = (given: Settings): string[] =>
  (['base', 'bridge'] as const).flatMap((host) =>
    (given[`${host}Domain`] === undefined) === (given[`${host}Certificate`] === undefined)
      ? []
      : [`${host}Domain and ${host}Certificate: give both or neither`],
  );
