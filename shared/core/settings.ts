/** Settings of the stack, which functions read from the environment. */

const setting = (name: string): string => {
  const value = process.env[name];
  if (value === undefined || value === '') throw new Error(`The environment lacks ${name}.`);
  return value;
};

/** The one table's name. */
export const tableName = (): string => setting('TABLE_NAME');

/** Address of the API host, without a slash at its end. */
export const baseUrl = (): string => setting('BASE_URL');

/** Address of the bridge host, without a slash at its end. */
export const bridgeUrl = (): string => setting('BRIDGE_URL');

/** What follows the phone number and @ in a contact's identifier. */
export const jidDomain = (): string => setting('JID_DOMAIN');

/** Address of the queue that wakes `deliver`. */
export const queueUrl = (): string => setting('QUEUE_URL');

/** Name of the secret that holds address and signing secret of the app network. */
export const appNetworkSecret = (): string => setting('APP_NETWORK_SECRET');

/** Name of the bucket that holds media. */
export const mediaBucket = (): string => setting('MEDIA_BUCKET');

/** The suffix of AWS's host names in this partition: `amazonaws.com`, and another one in China. */
export const urlSuffix = (): string => setting('URL_SUFFIX');

/** The region of the function. */
export const region = (): string => setting('AWS_REGION');

/** Days that messages and log entries are kept. */
export const messageRetention = (): number => Number(setting('MESSAGE_RETENTION'));

/** Days that user data requests and their values are kept. */
export const requestRetention = (): number => Number(setting('REQUEST_RETENTION'));

/** Days that job counters are kept. */
export const counterRetention = (): number => Number(setting('COUNTER_RETENTION'));

/** What the metrics of this deployment are filed under. */
export const metricsNamespace = (): string => process.env.METRICS_NAMESPACE ?? 'BusinessApi';
