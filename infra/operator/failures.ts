/**
 * Error messages for the operator: one line, with the remedy. Texts of unexpected errors are left out: they may quote
 * data.
 */
import { isRetryable } from '../../shared/table/retryable-errors.ts';
import { describeError } from '../../shared/telemetry/log.ts';
import { Refusal } from './queries/accounts-admin.ts';

const SIGN_IN = 'Sign in to AWS again, or choose credentials with AWS_PROFILE.';

/** Messages by the error's code or name. */
const failures: Record<string, (target: Target) => string> = {
  ResourceNotFoundException: ({ table, place }) =>
    `There is no table "${table}" ${place}. Pass the stack's output TableName with --table; check AWS_REGION and AWS_PROFILE.`,
  ValidationException: ({ table, place }) =>
    `"${table}" ${place} is not a table of the Business API. Pass the stack's output TableName with --table.`,
  AccessDeniedException: ({ table, place }) => `These credentials may not use the table "${table}" ${place}.`,
  AccessDenied: () => 'These credentials may not delete from the media bucket.',
  CredentialsProviderError: () => `No AWS credentials were found. ${SIGN_IN}`,
  ExpiredTokenException: () => `The AWS credentials have expired. ${SIGN_IN}`,
  IncompleteSignatureException: () => `AWS rejects the credentials. ${SIGN_IN}`,
  InvalidSignatureException: () => `AWS rejects the credentials. ${SIGN_IN}`,
  TokenProviderError: () => `The AWS session has ended. ${SIGN_IN}`,
  UnrecognizedClientException: () => `AWS rejects the credentials. ${SIGN_IN}`,
  ECONNREFUSED: unreachable,
  ECONNRESET: unreachable,
  EHOSTUNREACH: unreachable,
  ENETUNREACH: unreachable,
  ENOTFOUND: unreachable,
  ETIMEDOUT: unreachable,
  TimeoutError: unreachable,
};

interface Target {
  table: string | undefined;
  place: string;
}

/** The message for an error, in one line. */
export const describeFailure = (error: unknown): string => {
  if (error instanceof Refusal) return error.message;
  const known = namesOf(error).flatMap((name) => failures[name] ?? [])[0];
  if (known !== undefined) return known({ table: process.env.TABLE_NAME, place: place() });
  if (error instanceof Error && error.message === 'Region is missing') return 'No AWS region is set. Set AWS_REGION.';
  if (isRetryable(error)) return 'The table is busy. Retry in a moment.';
  const { error: name, at } = describeError(error);
  return `Unexpected error: ${[name, at?.split(' < ')[0]].filter(Boolean).join(' ')}`;
};

const namesOf = (error: unknown): string[] => {
  if (!(error instanceof Error)) return [];
  return 'code' in error && typeof error.code === 'string' ? [error.code, error.name] : [error.name];
};

const endpoint = (): string | undefined => process.env.AWS_ENDPOINT_URL_DYNAMODB || process.env.AWS_ENDPOINT_URL;

const place = (): string => (endpoint() ? `at ${endpoint()}` : 'in this AWS account and region');

function unreachable(): string {
  const host = endpoint();
  return host
    ? `There is no response from ${host}. Is the database running? "npm start" starts the local one.`
    : 'DynamoDB cannot be reached. Check the network and AWS_REGION.';
}
