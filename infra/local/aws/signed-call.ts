/**
 * Calls of the database by the emulator itself, many times a second, because readers of the stream poll it; and by tests. Node's
 * HTTP client takes a quarter of the processor time of `fetch`.
 */
import { Agent, request } from 'node:http';
import { OPERATOR } from './iam/roles.ts';

/** Local databases require a signature, but do not check it. An operator is nowhere denied. */
const SIGNED = {
  'content-type': 'application/x-amz-json-1.0',
  'x-amz-date': '20300101T000000Z',
  authorization: `AWS4-HMAC-SHA256 Credential=${OPERATOR}/20300101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0`,
};

const agent = new Agent({ keepAlive: true });

interface SignedCall {
  endpoint: string;
  /** The API's version and the action: `DynamoDB_20120810.PutItem`. */
  target: string;
  input: object;
  signal?: AbortSignal;
}

/**
 * Resolves with the status and the text of the response.
 *
 * @throws the system's error if there is no complete response, or an AbortError
 */
export const signedCall = ({
  endpoint,
  target,
  input,
  signal,
}: SignedCall): Promise<{ status: number; text: string }> =>
  new Promise((resolve, reject) => {
    const body = JSON.stringify(input);
    const headers = { ...SIGNED, 'x-amz-target': target, 'content-length': Buffer.byteLength(body) };
    const call = request(endpoint, { method: 'POST', headers, agent, signal }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      response.once('end', () => resolve({ status: response.statusCode ?? 0, text })).once('error', reject);
    });
    call.once('error', reject).end(body);
  });
