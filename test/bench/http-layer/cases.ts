/** Requests as API Gateway events (payload format 2.0). */

export interface Case {
  status: number;
  /** JSON, so that each run parses its own event. */
  event: string;
  /** How many times faster than the frameworks. Validation is most of the work of a request with errors, and is shared. */
  goals: { hono: number; powertools: number };
}

const eventOf = (body: unknown, permissions: string[]): string =>
  JSON.stringify({
    version: '2.0',
    routeKey: 'POST /v1/message',
    rawPath: '/v1/message',
    rawQueryString: 'job_id=0b5a5a5e-6f6e-4d6b-9d55-1f1d7b6b4f10',
    queryStringParameters: { job_id: '0b5a5a5e-6f6e-4d6b-9d55-1f1d7b6b4f10' },
    headers: {
      accept: '*/*',
      'accept-encoding': 'gzip, deflate, br',
      authorization: `Bearer bapi_${'0'.repeat(72)}`,
      'content-length': '150',
      'content-type': 'application/json',
      host: 'api.example.com',
      'idempotency-key': 'order-1234567',
      'user-agent': 'acme/1.0',
      'x-amzn-trace-id': 'Root=1-67890abc-0123456789abcdef01234567',
      'x-forwarded-for': '198.51.100.7',
      'x-forwarded-port': '443',
      'x-forwarded-proto': 'https',
    },
    requestContext: {
      accountId: '123456789012',
      apiId: 'abcdefghij',
      authorizer: {
        lambda: { account: 'acme', token: '0198c0de-0000-7000-8000-000000000000', label: 'bench', permissions },
      },
      domainName: 'api.example.com',
      domainPrefix: 'api',
      http: {
        method: 'POST',
        path: '/v1/message',
        protocol: 'HTTP/1.1',
        sourceIp: '198.51.100.7',
        userAgent: 'acme/1.0',
      },
      requestId: 'JKJaXmPLvHcESHA=',
      routeKey: 'POST /v1/message',
      stage: '$default',
      time: '21/Nov/2026:12:00:00 +0000',
      timeEpoch: 1_795_262_400_000,
    },
    body: JSON.stringify(body),
    isBase64Encoded: false,
  });

const text = {
  to: '27821234567',
  type: 'text',
  text: { body: 'Your parcel is on its way. It will be there at noon.' },
};
const good = { ...text, quick_replies: ['Thanks', 'Not today'] };
const invalid = { ...text, to: '+27821234567', text: { body: ' ' }, quick_replies: ['Yes', ''] };

export const cases = {
  'a message that is taken': {
    status: 200,
    event: eventOf(good, ['messages', 'stats']),
    goals: { hono: 6, powertools: 8 },
  },
  'one with three validation errors': {
    status: 422,
    event: eventOf(invalid, ['messages', 'stats']),
    goals: { hono: 3.3, powertools: 5.5 },
  },
  'one without the permission': { status: 403, event: eventOf(good, ['stats']), goals: { hono: 6, powertools: 8 } },
};
