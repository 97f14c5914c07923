import { signedCall } from '../../../infra/local/aws/signed-call.ts';

const ATTEMPTS = 3;

/**
 * Calls the database, but not through the client that the service uses, so mocks and faults do not affect it. A busy database
 * is called again, so the action must be one that can be repeated.
 *
 * @param input - as JSON: bytes are in base64
 * @throws Error — the database rejects the call, or fails three times
 */
export const callDatabase = async (
  action: string,
  input: object,
  endpoint = process.env.AWS_ENDPOINT_URL_DYNAMODB ?? '',
): Promise<object> => {
  for (let attempt = 1; ; attempt += 1) {
    const { status, text } = await signedCall({ endpoint, target: `DynamoDB_20120810.${action}`, input }).catch(
      (error) => ({ status: 500, text: String(error) }),
    );
    if (status === 200) return JSON.parse(text);
    if (status < 500 || attempt === ATTEMPTS) throw new Error(`The database returned ${status} for ${action}: ${text}`);
  }
};
