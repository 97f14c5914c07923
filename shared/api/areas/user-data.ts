/** User data requests. */
import * as v from 'valibot';
import { RECEIPT_POSITION, REQUEST_POSITION } from '../../user-data/entities.ts';
import { receiptEvents, requestStatuses, resultStatuses } from '../../user-data/statuses.ts';
import { type PropertyName, propertyNames } from '../../users/profile-properties.ts';
import { listOf, responseList, responseRecord } from '../../validation/bounded.ts';
import { timeParameter } from '../../validation/point-in-time.ts';
import { duration, explanation, idOfAnything, phoneNumber, reference, wholeNumber } from '../../validation/schemas.ts';

import { define, idempotencyKey } from '../endpoint.ts';

const property = v.picklist(propertyNames);

/** Most items of `data`: the response can list one validation error for each. */
const MAX_ASKED = 1_000;

const named = v.object({ property: v.pipe(v.string(), v.maxLength(100)) });

/** The property of an item; undefined if it is missing, or longer than any property's name. */
const nameIn = (item: unknown): string | undefined => (v.is(named, item) ? item.property : undefined);

/** The schema of `data`: a list that contains each property at most once. */
const askedFor = <Item extends v.GenericSchema<unknown, { property: PropertyName }>>(item: Item) =>
  v.pipe(
    listOf(item, { min: 1, tooFew: 'must name at least one property', max: MAX_ASKED, of: 'properties' }),
    v.rawCheck(({ dataset, addIssue }) => {
      // Duplicates are reported even if items are invalid, but not if `data` is not a list, or is too long.
      const given: unknown = dataset.value;
      if (!Array.isArray(given) || given.length > MAX_ASKED) return;
      const seen = new Set<string>();
      for (const [key, one] of given.entries()) {
        const name = nameIn(one);
        if (name === undefined) continue;
        if (!seen.has(name)) {
          seen.add(name);
          continue;
        }
        const path = { type: 'array', origin: 'value', input: given, key, value: given[key] } as const;
        addIssue({ message: `names ${name} again`, path: [path] });
      }
    }),
  );

/** For how many days the consent is valid. */
const validDays = duration('days', 1, 365);

const requestStatus = v.picklist(requestStatuses);

/** The result for a property. */
export const result = v.variant('status', [
  v.object({
    status: v.literal('approved'),
    source: v.string(),
    value: v.string(),
    timestamp: v.string(),
    valid_until: v.optional(v.string()),
  }),
  v.object({ status: v.picklist(['denied', 'unavailable']) }),
  v.object({ status: v.picklist(['withdrawn', 'expired']), timestamp: v.string() }),
]);

export const userData = v.object({
  status: requestStatus,
  reference: v.optional(v.string()),
  results: responseRecord(v.string(), result),
});

/** A request in a list. */
export const listedRequest = v.object({
  requestId: v.string(),
  phone_number: v.string(),
  status: requestStatus,
  created: v.string(),
  completed: v.optional(v.string()),
  reference: v.optional(v.string()),
  reason: v.string(),
  valid_days: v.optional(v.pipe(v.number(), v.metadata({ type: 'integer' }))),
  data: responseList(
    v.object({
      property,
      reason: v.optional(v.string()),
      required: v.boolean(),
      status: v.optional(v.picklist(resultStatuses)),
      timestamp: v.optional(v.string()),
      valid_until: v.optional(v.string()),
    }),
  ),
});

export const consentReceipt = v.object({
  requestId: v.string(),
  phone_number: v.optional(v.string()),
  event: v.picklist(receiptEvents),
  timestamp: v.string(),
  valid_until: v.optional(v.string()),
  reason: v.string(),
  // Also those that are no longer in the catalogue.
  properties: responseList(v.string()),
});

export const userDataRequests = {
  startUserDataRequest: define({
    area: 'user-data',
    summary: 'Ask a user for profile properties.',
    routes: [{ host: 'base', method: 'POST', path: '/v1/user_data/start/{phone_number}' }],
    token: 'header',
    permission: 'user_data',
    path: v.object({ phone_number: phoneNumber }),
    headers: idempotencyKey,
    body: {
      type: 'json',
      schema: v.object({
        reason: explanation,
        data: askedFor(
          v.object({ property, reason: v.optional(explanation), required: v.optional(v.boolean(), false) }),
        ),
        valid_days: v.optional(validDays),
        reference: v.optional(reference),
      }),
    },
    responses: { 200: v.object({ requestId: v.string(), status: requestStatus }) },
    problems: ['user_not_found', 'user_opted_out', 'idempotency_key_reused', 'allowance_exceeded'],
    hashes: true,
    table: [
      'findAllowance',
      'findUser',
      'chargeAllowance',
      'findAccount',
      'findOptOut',
      'findIdempotencyKey',
      'askUser',
      'grantAtOnce',
    ],
  }),

  fetchUserData: define({
    area: 'user-data',
    summary: 'Fetch what a user granted. Optionally, wait for the answer.',
    routes: [{ host: 'base', method: 'GET', path: '/v1/user_data/fetch/{id}' }],
    token: 'header',
    permission: 'user_data',
    path: v.object({ id: idOfAnything }),
    query: v.object({ long_poll: v.optional(wholeNumber(0, 30), '0') }),
    responses: { 200: userData },
    problems: ['request_not_found'],
    // API Gateway's limit is 30.
    timeout: 29,
    table: ['findRequest', 'findConsents', 'updateWaits'],
  }),

  listUserDataRequests: define({
    area: 'user-data',
    summary: 'List your user data requests, newest first.',
    routes: [{ host: 'base', method: 'GET', path: '/v1/user_data/requests' }],
    token: 'header',
    permission: 'user_data',
    query: v.object({
      limit: v.optional(wholeNumber(1, 100), '50'),
      status: v.optional(requestStatus),
      start: v.optional(timeParameter),
      end: v.optional(timeParameter),
      cursor: v.optional(v.string()),
    }),
    position: v.pipe(v.string(), v.regex(REQUEST_POSITION)),
    responses: { 200: responseList(listedRequest), 204: null },
    problems: [],
    table: ['listRequests', 'findRequests'],
  }),

  listReceipts: define({
    area: 'user-data',
    summary: 'List the receipts of consent for your requests, newest first.',
    routes: [{ host: 'base', method: 'GET', path: '/v1/user_data/receipts' }],
    token: 'header',
    permission: 'user_data',
    query: v.object({
      limit: v.optional(wholeNumber(1, 100), '50'),
      phone_number: v.optional(phoneNumber),
      start: v.optional(timeParameter),
      end: v.optional(timeParameter),
      cursor: v.optional(v.string()),
    }),
    position: v.pipe(v.string(), v.regex(RECEIPT_POSITION)),
    responses: { 200: responseList(consentReceipt), 204: null },
    problems: [],
    table: ['findAccount', 'listReceipts', 'listReceiptsOfUser', 'findConsentReceipts'],
  }),

  retrieveUserData: define({
    area: 'user-data',
    summary: 'Retrieve properties that need no approval.',
    routes: [{ host: 'base', method: 'POST', path: '/v1/user_data/fetch/{id}' }],
    token: 'header',
    permission: 'user_data',
    path: v.object({ id: phoneNumber }),
    body: { type: 'json', schema: v.object({ data: askedFor(v.object({ property })) }) },
    responses: { 200: userData },
    problems: ['approval_required', 'user_not_found', 'user_opted_out', 'allowance_exceeded'],
    table: ['findAllowance', 'findUser', 'chargeAllowance', 'findOptOut', 'putConsentReceipt'],
  }),

  acknowledgeDeletion: define({
    area: 'user-data',
    summary: 'Confirm that you have deleted values whose consent has ended.',
    routes: [{ host: 'base', method: 'POST', path: '/v1/user_data/{request_id}/deleted' }],
    token: 'header',
    permission: 'user_data',
    path: v.object({ request_id: idOfAnything }),
    responses: { 204: null },
    problems: ['request_not_found', 'consent_not_ended'],
    hashes: true,
    table: ['findConsents', 'acknowledgeDeletion', 'endConsent'],
  }),
} as const;
