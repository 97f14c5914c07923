import { signedCall } from '../../../infra/local/aws/signed-call.ts';

/**
 * Calls the database, but not through the client that the service uses, so mocks and faults do not affect it.
 *
 * @param input - as JSON: bytes are in base64
 */
export const callDatabase = async (action: string, input: object): Promise<object> => {
  const { AWS_ENDPOINT_URL_DYNAMODB: endpoint = '' } = process.env;
  const { status, text } = await signedCall({ endpoint, target: `DynamoDB_20120810.${action}`, input });
  if (status !== 200) throw new Error(`The database returned ${status} for ${action}: ${text}`);
  return JSON.parse(text);
};
