/** Rejections of calls by the table, as the client of deployed functions throws them, for tests that have this client. */
import { HttpResponse } from '@smithy/core/protocols';
import * as errors from '../../../infra/bundle/sdk/client-dynamodb.ts';
import { type Body, ServiceException } from '../../../infra/bundle/sdk/json-client.ts';

const CLASSES: Partial<Record<string, typeof ServiceException>> = {
  ConditionalCheckFailedException: errors.ConditionalCheckFailedException,
  TransactionCanceledException: errors.TransactionCanceledException,
  TransactionConflictException: errors.TransactionConflictException,
};

/** The error for a response with this code. */
export const rejection = (code: string, more: Body = {}): Error =>
  new (CLASSES[code] ?? ServiceException)(new HttpResponse({ statusCode: 400 }), { __type: code, ...more });
