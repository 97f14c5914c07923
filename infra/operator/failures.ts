/**
 * Error messages for the operator: one line, with the cause and the remedy. Texts of unexpected errors are left out:
 * they may quote data.
 */
import * as v from 'valibot';
import { isRetryable } from '../../shared/core/retryable-errors.ts';
import { describeError } from '../../shared/telemetry/log.ts';
import { UserError } from './queries/accounts-admin.ts';
import { NotConfirmed } from './terminal/confirm.ts';
import { EXIT, Interrupted } from './terminal/exit-codes.ts';

const SIGN_IN = 'Sign in to AWS again, or choose credentials with AWS_PROFILE.';

interface Failure {
  table: string | undefined;
  place: string;
  error: Error;
}

type Message = (failure: Failure) => string;

/** Messages by the error's code or name. */
const failures: Record<string, Message> = {
  ResourceNotFoundException: ({ table, place }) =>
    `There is no table "${table}" ${place}. Name the stack with --stack, or its output TableName with --table; check AWS_REGION and AWS_PROFILE.`,
  ValidationException: ({ table, place }) =>
    `"${table}" ${place} is not a table of the Business API. Name the stack with --stack, or its output TableName with --table.`,
  AccessDeniedException: ({ table, place, error }) =>
    `These credentials may not use the table "${table}" ${place}${missingRight(error)}.`,
  AccessDenied: ({ error }) => `These credentials may not delete from the media bucket${missingRight(error)}.`,
  NoHashSecret: () =>
    "This command finds a person's data by a keyed hash, and could not read the secret. Name the stack with --stack, and use credentials with secretsmanager:GetSecretValue for its output HashSecretName; with --table, set HASH_SECRET to that output.",
  CredentialsProviderError: noCredentials,
  ExpiredTokenException: () => `The AWS credentials have expired. ${SIGN_IN}`,
  ExpiredToken: () => `The AWS credentials have expired. ${SIGN_IN}`,
  IncompleteSignatureException: () => `AWS rejects the credentials. ${SIGN_IN}`,
  InvalidClientTokenId: () => `AWS rejects the credentials. ${SIGN_IN}`,
  InvalidSignatureException: rejected,
  RequestTimeTooSkewed: () => CLOCK,
  SignatureDoesNotMatch: rejected,
  TokenProviderError: () => `The AWS session has ended. ${SIGN_IN}`,
  UnrecognizedClientException: () => `AWS rejects the credentials. ${SIGN_IN}`,
  ECONNREFUSED: ({ error }) => `${hostOf(error)} refuses the connection: nothing listens there. ${remedy()}`,
  ECONNRESET: ({ error }) =>
    `${hostOf(error)} closed the connection before it answered${attemptsOf(error)}. It is safe to repeat the command.`,
  EPIPE: ({ error }) =>
    `${hostOf(error)} closed the connection before it answered${attemptsOf(error)}. It is safe to repeat the command.`,
  EHOSTUNREACH: ({ error }) => `There is no route to ${hostOf(error)}. Check the network, and the VPN if there is one.`,
  ENETUNREACH: ({ error }) => `There is no route to ${hostOf(error)}. Check the network, and the VPN if there is one.`,
  ENOTFOUND: ({ error }) =>
    `The name of ${hostOf(error)} cannot be resolved. Check the network and AWS_REGION${regionNow()}.`,
  EAI_AGAIN: ({ error }) =>
    `The name of ${hostOf(error)} cannot be resolved now: the name server does not answer. Check the network.`,
  ETIMEDOUT: timeout,
  TimeoutError: timeout,
  CERT_HAS_EXPIRED: certificate,
  DEPTH_ZERO_SELF_SIGNED_CERT: certificate,
  ERR_TLS_CERT_ALTNAME_INVALID: certificate,
  SELF_SIGNED_CERT_IN_CHAIN: certificate,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: certificate,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: certificate,
  ProvisionedThroughputExceededException: throttled,
  RequestLimitExceeded: throttled,
  ThrottlingException: throttled,
  Throttling: throttled,
  SlowDown: throttled,
  TransactionConflictException: inConflict,
  TransactionInProgressException: inConflict,
};

const CLOCK = "AWS rejects the time of this machine's requests. Set its clock.";

/** The message for an error, in one line. */
export const describeFailure = (error: unknown): string => {
  if (error instanceof UserError || error instanceof NotConfirmed || error instanceof Interrupted) return error.message;
  if (error instanceof Error) {
    const known = namesOf(error).flatMap((name) => failures[name] ?? [])[0];
    if (known !== undefined) return known({ table: process.env.TABLE_NAME, place: place(), error });
    if (error.message === 'Region is missing') return 'No AWS region is set. Set AWS_REGION.';
    const status = statusOf(error);
    if (status !== undefined && status >= 500) {
      return `${hostOf(error)} failed with status ${status}${attemptsOf(error)}. It is safe to repeat the command.`;
    }
    if (isRetryable(error)) return 'The table is busy. Retry in a moment.';
    if (error instanceof v.ValiError)
      return `A value has an unexpected form: ${error.issues.map(describeIssue).join(', ')}.`;
  }
  const { error: name, at } = describeError(error);
  return `Unexpected error: ${[name, at?.split(' < ')[0]].filter(Boolean).join(' ')}`;
};

/** What was expected where. The value itself may be data. */
const describeIssue = (issue: v.BaseIssue<unknown>): string =>
  `${v.getDotPath(issue) ?? 'the whole'} must be ${issue.expected ?? 'valid'}`;

/** The exit code for an error. */
export const exitCodeOf = (error: unknown): number => {
  if (error instanceof Interrupted) return error.exitCode;
  if (error instanceof NotConfirmed) return EXIT.unconfirmed;
  const isTemporary =
    isRetryable(error) || (error instanceof Error && namesOf(error).some((name) => TEMPORARY.has(name)));
  return isTemporary ? EXIT.temporary : EXIT.failed;
};

/** Errors that end by themselves, besides those that the service retries. */
const TEMPORARY = new Set(['EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT', 'Throttling', 'SlowDown']);

const namesOf = (error: Error): string[] =>
  'code' in error && typeof error.code === 'string' ? [error.code, error.name] : [error.name];

const metadataOf = (error: Error): { httpStatusCode?: unknown; attempts?: unknown } =>
  '$metadata' in error ? Object(error.$metadata) : {};

const statusOf = (error: Error): number | undefined => {
  const { httpStatusCode } = metadataOf(error);
  return typeof httpStatusCode === 'number' ? httpStatusCode : undefined;
};

/** ` (6 attempts)`, if the SDK has counted them. */
const attemptsOf = (error: Error): string => {
  const { attempts } = metadataOf(error);
  return typeof attempts === 'number' && attempts > 1 ? ` (${attempts} attempts)` : '';
};

const endpoint = (): string | undefined => process.env.AWS_ENDPOINT_URL_DYNAMODB || process.env.AWS_ENDPOINT_URL;

const place = (): string => (endpoint() ? `at ${endpoint()}` : 'in this AWS account and region');

/** The server that an error is about: as the error names it, else the table's. */
const hostOf = (error: Error): string => {
  if ('hostname' in error && typeof error.hostname === 'string') return error.hostname;
  if ('address' in error && 'port' in error) return `${error.address}:${error.port}`;
  return endpoint() || 'AWS';
};

const remedy = (): string =>
  endpoint()
    ? 'Is the database running? "npm start" starts the local one.'
    : 'Check the network, and the proxy if there is one.';

const regionNow = (): string => (process.env.AWS_REGION ? `, which is ${process.env.AWS_REGION}` : '');

/** The right that is missing, from AWS's text: nothing else of the text is shown. */
const missingRight = (error: Error): string => {
  const [, action] = /not authorized to perform: ([a-z0-9-]+:[A-Za-z]+)/.exec(error.message) ?? [];
  return action === undefined ? '' : `: they lack ${action}`;
};

function noCredentials(): string {
  const { AWS_PROFILE: profile } = process.env;
  return profile
    ? `The profile "${profile}" (AWS_PROFILE) gives no AWS credentials: it does not exist, or its session has ended. Sign in to AWS again, or choose another one.`
    : `No AWS credentials were found. ${SIGN_IN}`;
}

function rejected({ error }: Failure): string {
  return /expired|not yet current/i.test(error.message) ? CLOCK : `AWS rejects the credentials. ${SIGN_IN}`;
}

function timeout({ error }: Failure): string {
  return `${hostOf(error)} did not answer in time${attemptsOf(error)}: the network or the service is slow. It is safe to repeat the command.`;
}

function certificate({ error }: Failure): string {
  return `The certificate of ${hostOf(error)} is not trusted. If a proxy replaces certificates, set NODE_EXTRA_CA_CERTS to its own.`;
}

function throttled({ error }: Failure): string {
  return `AWS throttles the calls${attemptsOf(error)}: too many are made at the same time. Retry in a moment.`;
}

function inConflict({ error }: Failure): string {
  return `Other requests are changing the same data${attemptsOf(error)}. Retry in a moment.`;
}
