/**
 * Does the one-time work of the first call of the table while Lambda initializes the function: then, it has a full processor,
 * and later only the share that its memory buys. `bundle.ts` adds the warm-up of one command to each function that uses the
 * table: of the command that it is likely to send first.
 */
import { Readable } from 'node:stream';
import type { GetCommand, PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { HttpResponse } from '@smithy/core/protocols';
import { documents } from '../../../shared/table/client.ts';
import type { SendOptions } from '../sdk/json-client.ts';
import type { DynamoDBDocumentClient } from '../sdk/lib-dynamodb.ts';

/** Nothing listens here, so connections are refused at once. */
const NOWHERE = { hostname: '127.0.0.1', port: 9 };

const ITEM = '{"pk":{"S":"a"},"n":{"N":"1"},"m":{"M":{"l":{"L":[{"BOOL":true}]}}}}';
const RESPONSE = Buffer.from(`{"Item":${ITEM},"Items":[${ITEM}]}`);

/** Sends a request to nowhere. Its response is made here. */
const interceptor: SendOptions['interceptor'] = async (request, exchange) => {
  await exchange(Object.assign(request, NOWHERE)).catch(() => undefined);
  return new HttpResponse({ statusCode: 200, headers: {}, body: Readable.from([RESPONSE]) });
};

/** A command that is serialized, signed, and sent to nowhere. */
export const sendNowhere = async (command: GetCommand | PutCommand | QueryCommand): Promise<void> => {
  // The client in bundles.
  const client: DynamoDBDocumentClient = Object(documents);
  // The function works without it, so its errors have no effect.
  await client.send(Object(command), { interceptor }).catch(() => undefined);
};
