import { REGION } from '../template/references.ts';

/** The variables that Lambda's runtime adds. The endpoints identify a function by its access key. */
export const lambdaEnvironment = (id: string): Record<string, string> => ({
  AWS_REGION: REGION,
  AWS_ACCESS_KEY_ID: id,
  AWS_SECRET_ACCESS_KEY: 'local',
  AWS_SESSION_TOKEN: 'local',
  AWS_LAMBDA_FUNCTION_NAME: id,
  // Ignores the AWS configuration of this machine's user.
  AWS_CONFIG_FILE: '/dev/null',
  AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
  TZ: ':UTC',
});
