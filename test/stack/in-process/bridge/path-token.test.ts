/**
 * The authorizer's decisions on tokens in a path, with the event that API Gateway sends for such a route.
 *
 * @module-tag long
 */
import { describe, expect, test } from 'vitest';
import { handler } from '../../../../functions/authorizer.ts';
import { captureLog } from '../../../support/captured-log.ts';
import { newCaller } from '../../support/world.ts';

captureLog();

const authorize = (encoded_token: string) =>
  handler({
    routeKey: 'POST /v1/webhook/turn/{encoded_token}',
    identitySource: null,
    pathParameters: { encoded_token },
    requestContext: { requestId: 'request-1' },
  });

describe('a token in a path', () => {
  test('has only the permission bridge, even if the same token in a header has more', async () => {
    const { token } = await newCaller('profilers', 'bridge', 'messages');
    const { context } = await authorize(Buffer.from(token).toString('base64url'));
    expect(context).toMatchObject({ permissions: ['bridge'] });
  });

  test('is rejected if it is empty, not encoded, unknown or malformed', async () => {
    const { token } = await newCaller('bridge');
    for (const encoded of ['', token, 'bm9ib2R5', '%%%']) {
      expect(await authorize(encoded)).toEqual({ isAuthorized: false, context: {} });
    }
  });
});
