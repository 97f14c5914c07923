/** Tokens in a path, asked of the authorizer as API Gateway asks it for a route whose token is in its path. */
import { describe, expect, test } from 'vitest';
import { handler } from '../../../functions/authorizer.ts';
import { captureLog } from '../../support/captured-log.ts';
import { newCaller } from '../support/world.ts';

captureLog();

const askFor = (encoded_token: string) =>
  handler({
    routeKey: 'POST /v1/webhook/turn/{encoded_token}',
    identitySource: null,
    pathParameters: { encoded_token },
    requestContext: { requestId: 'request-1' },
  });

describe('a token in a path', () => {
  test('is taken in base64url, padded or not', async () => {
    const { account, token, tokenId } = await newCaller('bridge');
    const expected = { isAuthorized: true, context: { account, token: tokenId, permissions: ['bridge'] } };
    const padded = Buffer.from(token).toString('base64').replaceAll('+', '-').replaceAll('/', '_');
    expect(padded).toMatch(/=$/);
    expect(await askFor(padded)).toEqual(expected);
    expect(await askFor(padded.replaceAll('=', ''))).toEqual(expected);
  });

  test('opens the bridge and nothing else, whatever it could do in a header', async () => {
    const { token } = await newCaller('profilers', 'bridge', 'messages');
    const { context } = await askFor(Buffer.from(token).toString('base64url'));
    expect(context).toMatchObject({ permissions: ['bridge'] });
  });

  test('is rejected when it is unknown, plain, or not there', async () => {
    const { token } = await newCaller('bridge');
    for (const encoded of ['', token, 'bm9ib2R5', '%%%']) {
      expect(await askFor(encoded)).toEqual({ isAuthorized: false, context: {} });
    }
  });
});
