/** Settings of the stack, which functions read from the environment. */

const setting = (name: string): string => {
  const value = process.env[name];
  if (value === undefined || value === '') throw new Error(`The environment lacks ${name}.`);
  return value;
};

/** Name of the table. */
export const tableName = (): string => setting('TABLE_NAME');

/** URL of the API host, without a slash at its end. */
export const baseUrl = (): string => setting('BASE_URL');

/** URL of the bridge host, without a slash at its end. */
export const bridgeUrl = (): string => setting('BRIDGE_URL');

/** The folder of the function's bundle. Lambda sets the variable ("Defined runtime environment variables", Lambda guide). */
export const functionFolder = (): string => setting('LAMBDA_TASK_ROOT');

/** The domain of contacts: the part after the phone number and @. */
export const jidDomain = (): string => setting('JID_DOMAIN');

/** URL of the queue of wake-ups. */
export const queueUrl = (): string => setting('QUEUE_URL');

/** URL of the queue of wake-ups of `expand`. */
export const expansionQueueUrl = (): string => setting('EXPANSION_QUEUE_URL');

/** Messages per second that the batches of an account are expanded to. */
export const campaignRate = (): number => Number(setting('CAMPAIGN_RATE'));

/** The number of wake-ups in the queue of `deliver` from which expansion slows down. */
export const deliveryQueueBound = (): number => Number(setting('DELIVERY_QUEUE_BOUND'));

/** Name of the secret with the app network's URL and signing secret. */
export const appNetworkSecret = (): string => setting('APP_NETWORK_SECRET');

/** Name of the secret with which personal data is hashed. */
export const hashSecret = (): string => setting('HASH_SECRET');

/** Name of the bucket of media. */
export const mediaBucket = (): string => setting('MEDIA_BUCKET');

/** The suffix of AWS's host names in this partition: `amazonaws.com`, or another one in China. */
export const urlSuffix = (): string => setting('URL_SUFFIX');

/** The region of the function. */
export const region = (): string => setting('AWS_REGION');

/** Whether AWS is called at the hosts that FIPS 140 validates. The variable is the SDK's. */
export const usesFips = (): boolean => {
  // Without this error, the clients in bundles would ignore the variable, which the SDK's clients respect.
  if (process.env.AWS_USE_DUALSTACK_ENDPOINT === 'true') {
    throw new Error('AWS_USE_DUALSTACK_ENDPOINT has no effect: functions call AWS over IPv4. Remove it.');
  }
  return process.env.AWS_USE_FIPS_ENDPOINT === 'true';
};

/** What names this service in the logs of AWS, such as CloudTrail. */
export const USER_AGENT = 'business-api';

/** Days that messages and log entries are kept. */
export const messageRetention = (): number => Number(setting('MESSAGE_RETENTION'));

/** Days that user data requests and their values are kept. */
export const requestRetention = (): number => Number(setting('REQUEST_RETENTION'));

/** Days that job counters are kept. Commands and the local page have the default, unless they know the stack's value. */
export const counterRetention = (): number => Number(process.env.COUNTER_RETENTION ?? 400);

/** Whether an operator approves the names that businesses give themselves. */
export const approveNames = (): boolean => setting('APPROVE_NAMES') === 'true';

/** How many long polls of an account may wait at the same time. */
export const waitsPerAccount = (): number => Number(setting('WAITS_PER_ACCOUNT'));

/** How many long polls of all accounts together may wait at the same time. */
export const waitsInAll = (): number => Number(setting('WAITS_IN_ALL'));

/** Requests per second that an account may make, unless it has a limit of its own. */
export const accountRate = (): number => Number(setting('ACCOUNT_RATE'));

/** Requests that such an account may make at once. */
export const accountBurst = (): number => Number(setting('ACCOUNT_BURST'));

/** Phone numbers that an account may ask for on a day. */
export const contactAllowance = (): number => Number(setting('CONTACT_ALLOWANCE'));

/** Profile properties of the deployment: a JSON object of names, each with `automatic` or `approval`. */
export const moreProperties = (): string => process.env.MORE_PROPERTIES ?? '{}';

/** The CloudWatch namespace of this deployment's metrics. */
export const metricsNamespace = (): string => process.env.METRICS_NAMESPACE ?? 'BusinessApi';

/** Steps that went well are logged for one message or user data request in so many. */
export const logSampling = (): number => Number(process.env.LOG_SAMPLING ?? 1);

/** Audiences that an account may count on a day. */
export const audienceAllowance = (): number => Number(setting('AUDIENCE_ALLOWANCE'));
