/** Connects the domain's modules in test code to the table of the served stack. */
import { AwsSdkSigV4Signer } from '@aws-sdk/core/httpAuthSchemes';
import { HttpRequest } from '@smithy/core/protocols';
import { inject } from 'vitest';
import { callTableOf } from '../../../infra/operator/local-stack/call-table.ts';

const { dynamodb_endpoint, table } = inject('stack');
callTableOf({ dynamodbEndpoint: dynamodb_endpoint, table });

// Answers and user data requests are charged.
process.env.CONTACT_ALLOWANCE = '100000';
process.env.AUDIENCE_ALLOWANCE = '100';

const { sign } = AwsSdkSigV4Signer.prototype;

/**
 * Signs calls of the table with a constant, because the SDK's hashes take a tenth of the processor time of these tests. Local
 * databases require a signature, but check neither it nor its time: so the difference of the clocks does not matter either.
 */
const signForTable: typeof sign = async function (this: AwsSdkSigV4Signer, given, identity, properties) {
  const request = HttpRequest.clone(given as HttpRequest);
  if (!request.headers['x-amz-target']?.startsWith('DynamoDB')) return sign.call(this, given, identity, properties);
  // The clients of functions give no credentials.
  const { accessKeyId = process.env.AWS_ACCESS_KEY_ID ?? '' } = identity as { accessKeyId?: string };
  request.headers['x-amz-date'] = '20300101T000000Z';
  request.headers.authorization = `AWS4-HMAC-SHA256 Credential=${accessKeyId}/20300101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0`;
  properties._skipClockSkewSampling = true;
  return request;
};

// A process runs many files: the method is replaced once.
if (sign.name !== signForTable.name) AwsSdkSigV4Signer.prototype.sign = signForTable;
