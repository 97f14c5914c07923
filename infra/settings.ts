/** Settings of a deployment: CDK context, from `cdk.json` or `-c name=value`, with defaults that suit production. */
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
  /** Names the deployment; several may stand in one AWS account. */
  stage: v.optional(v.pipe(v.string(), v.regex(/^[a-z][a-z0-9-]{0,30}$/, 'must be lower-case words')), 'production'),
  /** Custom domain of the API host, with the ARN of its certificate in the same region. */
  baseDomain: v.optional(domainName),
  baseCertificate: v.optional(v.string()),
  /** The same for the bridge host. */
  bridgeDomain: v.optional(domainName),
  bridgeCertificate: v.optional(v.string()),
  /** What follows the phone number and @ in a contact's identifier. */
  jidDomain: v.optional(domainName, 'users.example.com'),
  /** Days that log lines are kept; one of the periods that CloudWatch Logs knows. */
  logRetention: v.optional(
    v.pipe(
      wholeNumber(1),
      v.picklist([
        1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
      ]),
    ),
    30,
  ),
  /** Days that messages and log entries are kept; at least as long as the logs list without a start. */
  messageRetention: v.optional(wholeNumber(30), 90),
  /** Days that user data requests and their values are kept. */
  requestRetention: v.optional(wholeNumber(1), 30),
  /** Days that job counters are kept. */
  counterRetention: v.optional(wholeNumber(30), 400),
  /** Workers that deliver at the same time, at most; as many as the account has, without it. */
  deliverConcurrency: v.optional(v.pipe(wholeNumber(2), v.maxValue(1_000))),
  /** Fetches of user data that wait at the same time, at most; as many as the account has, without it. */
  fetchConcurrency: v.optional(wholeNumber(1)),
  /** ARN of the SNS topic that alarms are sent to. */
  alarmTopic: v.optional(v.pipe(v.string(), v.startsWith('arn:', 'must be an ARN'))),
  /** Address at which the documentation (`npm run docs`) is hosted: alarms lead to its runbooks. */
  docsUrl: v.optional(v.pipe(v.string(), v.url(), v.startsWith('https://', 'must be an https address'))),
  /** Minutes that an entry of an outbox may wait before an alarm is raised. */
  alarmAge: v.optional(wholeNumber(1), 60),
  /** Requests a second that each host takes, sustained and in bursts. */
  throttleRate: v.optional(wholeNumber(1), 500),
  throttleBurst: v.optional(wholeNumber(1), 1_000),
  /** What becomes of table and logs when the stack is deleted: `retain` also protects the table from deletion. */
  removalPolicy: v.optional(v.picklist(['retain', 'destroy']), 'retain'),
  /** How functions are made; `mapped` gives readable traces for a slower cold start. */
  bundling: v.optional(v.picklist(bundlings), 'minified'),
  /** Conditions of `imports` in package.json. The local stack sets one; a deployed stack has none. */
  conditions: v.optional(v.array(v.string()), []),
});

export type Settings = v.InferOutput<typeof settings>;

/**
 * Reads the settings from whatever `lookup` finds for their names.
 *
 * @throws Error — naming each setting that is wrong, and why
 */
export const readSettings = (lookup: (name: string) => unknown): Settings => {
  const found = Object.keys(settings.entries).flatMap((name) => {
    const value = lookup(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  const { success, output, issues } = v.safeParse(settings, Object.fromEntries(found));
  const wrong = success ? unpaired(output) : issues.map((issue) => `${v.getDotPath(issue)}: ${issue.message}`);
  if (!success || wrong.length > 0) throw new Error(`Settings are wrong (CDK context): ${wrong.join('; ')}`);
  return output;
};

/** A domain needs its certificate, and the other way round. */
const unpaired = (given: Settings): string[] =>
  (['base', 'bridge'] as const).flatMap((host) =>
    (given[`${host}Domain`] === undefined) === (given[`${host}Certificate`] === undefined)
      ? []
      : [`${host}Domain and ${host}Certificate: give both or neither`],
  );
