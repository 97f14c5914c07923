/** Errors of operator commands: the cause and the remedy in one line, and the exit code. */
import * as v from 'valibot';
import { afterEach, expect, test, vi } from 'vitest';
import { describeFailure, exitCodeOf } from '../../../infra/operator/failures.ts';
import { UserError } from '../../../infra/operator/queries/accounts-admin.ts';
import { NotConfirmed } from '../../../infra/operator/terminal/confirm.ts';
import { Interrupted } from '../../../infra/operator/terminal/exit-codes.ts';

afterEach(() => void vi.unstubAllEnvs());

const failure = (name: string, more: object = {}, message = 'Secret'): Error =>
  Object.assign(new Error(message), { name }, more);

const network = (code: string, more: object = {}): Error => failure('Error', { code, ...more });

const thrownBy = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (error) {
    return error;
  }
};

const HOST = { hostname: 'dynamodb.eu-west-9.amazonaws.com' };

const cases: [what: string, error: unknown, line: RegExp, code: number][] = [
  [
    'a timeout',
    failure('TimeoutError', { $metadata: { attempts: 5 } }),
    /^AWS did not answer in time \(5 attempts\)/,
    4,
  ],
  ['a refused connection', network('ECONNREFUSED', { address: '10.0.0.1', port: 80 }), /^10\.0\.0\.1:80 refuses/, 4],
  ['a lost connection', network('ECONNRESET'), /closed the connection before it answered/, 4],
  [
    'an unknown name',
    network('ENOTFOUND', HOST),
    /^The name of dynamodb\.eu-west-9.+AWS_REGION, which is eu-west-9/,
    4,
  ],
  ['a silent name server', network('EAI_AGAIN', HOST), /the name server does not answer/, 4],
  ['no route', network('EHOSTUNREACH'), /There is no route to AWS/, 4],
  ['an untrusted certificate', network('SELF_SIGNED_CERT_IN_CHAIN'), /NODE_EXTRA_CA_CERTS/, 1],
  ['throttling', failure('ThrottlingException', { $metadata: { attempts: 5 } }), /^AWS throttles the calls/, 4],
  ['throttling of CloudFormation', failure('Throttling'), /^AWS throttles the calls/, 4],
  ['a conflict', failure('TransactionConflictException'), /changing the same data/, 4],
  ['an error of AWS', failure('Whatever', { $metadata: { httpStatusCode: 503 } }), /AWS failed with status 503/, 4],
  [
    'a missing right',
    failure('AccessDeniedException', {}, 'User: Secret is not authorized to perform: dynamodb:Query on resource: x'),
    /may not use the table "t" in this AWS account and region: they lack dynamodb:Query\.$/,
    1,
  ],
  ['a clock that is wrong', failure('InvalidSignatureException', {}, 'Signature expired: Secret'), /Set its clock/, 1],
  ['a time that is wrong', failure('RequestTimeTooSkewed'), /Set its clock/, 1],
  ['wrong credentials', failure('InvalidSignatureException'), /AWS rejects the credentials/, 1],
  ['unknown credentials', failure('UnrecognizedClientException'), /AWS rejects the credentials/, 1],
  ['a profile without credentials', failure('CredentialsProviderError'), /^The profile "staging" \(AWS_PROFILE\)/, 1],
  ['a refusal', new UserError('There is no account.'), /^There is no account\.$/, 1],
  ['an answer of no', new NotConfirmed('Nothing was changed.'), /^Nothing was changed\.$/, 3],
  ['Ctrl-C', new Interrupted('Interrupted.'), /^Interrupted\.$/, 130],
  ['SIGTERM', new Interrupted('Interrupted.', 'SIGTERM'), /^Interrupted\.$/, 143],
  [
    'a value of another form',
    thrownBy(() => v.parse(v.object({ status: v.number() }), { status: 'Secret' })),
    /^A value has an unexpected form: status must be number\.$/,
    1,
  ],
  ['anything else', failure('Odd'), /^Unexpected error: Odd/, 1],
];

test.each(cases)('%s has its own message and exit code, without the text of the error', (_, error, line, code) => {
  vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', '');
  vi.stubEnv('AWS_ENDPOINT_URL', '');
  vi.stubEnv('AWS_REGION', 'eu-west-9');
  vi.stubEnv('AWS_PROFILE', 'staging');
  vi.stubEnv('TABLE_NAME', 't');
  expect(describeFailure(error)).toMatch(line);
  expect(describeFailure(error)).not.toMatch(/Secret|\n/);
  expect(exitCodeOf(error)).toBe(code);
});
