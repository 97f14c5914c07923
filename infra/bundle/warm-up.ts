/**
 * Does the one-time work of the first call of the table while Lambda initializes the function: then, it has a full processor,
 * and later only the share that its memory buys. `bundle.ts` adds this module to the functions that use the table.
 */
import { Readable } from 'node:stream';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { documents } from '../../shared/table/client.ts';

/** Nothing listens here, so connections are refused at once. */
const NOWHERE = { hostname: '127.0.0.1', port: 9 };

const RESPONSE = Buffer.from('{"Item":{"pk":{"S":"a"},"n":{"N":"1"},"m":{"M":{"l":{"L":[{"BOOL":true}]}}}}}');

/** A read that is serialized, signed, and sent to nowhere. Its response is made here. */
const read = new GetCommand({ TableName: 'warm-up', Key: { pk: 'a', sk: 'b' } });
read.middlewareStack.add(
  (next) => async (args) => {
    const request = Object.assign(Object(args.request), NOWHERE);
    await next({ ...args, request }).catch(() => undefined);
    return Object({ response: { statusCode: 200, headers: {}, body: Readable.from([RESPONSE]) } });
  },
  { step: 'deserialize', priority: 'low' },
);

// The function works without it, so its errors have no effect.
await documents.send(read).catch(() => undefined);
