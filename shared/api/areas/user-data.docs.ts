/** Texts, names and examples of user data requests. */
import { ENDED_CONSENT_DAYS, inDays } from '../../core/lifetimes.ts';
import { type AreaDocs, TIME } from '../docs.ts';
import { placeholders } from '../placeholders.ts';
import { consentReceipt, listedRequest, result, userData, type userDataRequests } from './user-data.ts';

const { user, request, time } = placeholders;

const end = '2027-02-18T09:58:09.118000';
const device = { status: 'approved', value: 'android', source: 'device', timestamp: time, valid_until: end } as const;

export const userDataDocs: AreaDocs<typeof userDataRequests> = {
  name: 'User data',
  description: 'Ask users for properties of their profile, and retrieve what they granted.',
  endpoints: {
    startUserDataRequest: {
      text: `The app asks the user for properties that need approval; the other properties are granted at once. A request for only
such properties is completed at once. A request is stored for 30 days, unless the operator has set another time.

With \`valid_days\`, the consent expires so many days after each release. A user may withdraw it at any time. Then the results
show \`withdrawn\` or \`expired\` instead of the value, and your webhook is notified. Delete your copy of the values, and
confirm it with \`POST /v1/user_data/{request_id}/deleted\`. If the user has stopped your account, a new request
returns 403 \`user_opted_out\`.`,
      names: { request: 'NewUserDataRequest', 200: 'StartedUserDataRequest' },
      links: {
        fetchUserData: ['/requestId', 'Fetch what the user granted.'],
        acknowledgeDeletion: ['/requestId', 'Confirm that you have deleted values whose consent has ended.'],
      },
      examples: {
        shows: 'A property that needs approval, and one that does not',
        path: { phone_number: user },
        headers: { 'idempotency-key': 'account-opening-1' },
        body: {
          reason: 'To open your account',
          data: [
            { property: 'first_name', reason: 'To greet you', required: true },
            { property: 'last_name' },
            { property: 'device_platform' },
          ],
          valid_days: 90,
        },
        answer: { requestId: request, status: 'pending' },
      },
    },
    fetchUserData: {
      text: `The status is \`pending\` until the user has answered for every property. With \`long_poll\`, the call waits, and ends within
a second after the answer. Granted values do not change afterwards, until the consent ends. Another account's request returns the same 404 as one that
does not exist.

An account has a limited number of simultaneous long polls, 50 unless the operator has set another limit. Above it, a pending
request returns \`pending\` at once. If it comes sooner than \`long_poll\` seconds, wait a few seconds before the next call.`,
      id: 'request_id_or_phone_number',
      examples: [
        { shows: 'Not answered yet', path: { id: request }, answer: { status: 'pending', results: {} } },
        {
          after: {
            shows: 'The user approves in part',
            body: [
              {
                id: 'event-3',
                type: 'user_data.answered',
                data: { id: request, answers: { first_name: 'approved', last_name: 'denied' } },
              },
            ],
          },
          shows: 'The user has answered',
          path: { id: request },
          query: { long_poll: '30' },
          answer: {
            status: 'completed',
            results: {
              first_name: { status: 'approved', value: 'Thandi', source: 'user', timestamp: time, valid_until: end },
              last_name: { status: 'denied' },
              device_platform: device,
            },
          },
        },
        {
          after: {
            shows: 'The user withdraws the consent',
            body: [{ id: 'event-8', type: 'user_data.withdrawn', data: { id: request, properties: ['first_name'] } }],
          },
          shows: 'The user has withdrawn the consent',
          path: { id: request },
          answer: {
            status: 'completed',
            results: {
              first_name: { status: 'withdrawn', timestamp: time },
              last_name: { status: 'denied' },
              device_platform: device,
            },
          },
        },
      ],
    },
    acknowledgeDeletion: {
      text: `Confirms that you have deleted your copy of all properties of the request whose consent has ended, because the
user withdrew it, was removed from the app, or because it has expired. Until then, the operator sees the deletion as
outstanding. Repeating the request changes nothing. It also works after the request has expired, until ${inDays(ENDED_CONSENT_DAYS)} after the end.`,
      examples: { shows: 'The first name is deleted', path: { request_id: request } },
    },
    listUserDataRequests: {
      text: `What you asked whom, the status of each request, and what became of each property: never its value, which
\`GET /v1/user_data/fetch/{id}\` returns. A property has a status as soon as its request is completed. Filters can be combined. A
request is listed as long as it is stored: for 30 days, unless the operator has set another time, or until the user is removed
from the app. New requests and statuses appear within seconds.`,
      names: { 'query.status': 'RequestStatus' },
      examples: {
        shows: 'The completed requests',
        query: { status: 'completed', limit: '10' },
        answer: [
          {
            requestId: request,
            phone_number: user,
            status: 'completed',
            created: time,
            completed: time,
            reason: 'To open your account',
            valid_days: 90,
            data: [
              {
                property: 'first_name',
                reason: 'To greet you',
                required: true,
                status: 'withdrawn',
                timestamp: time,
              },
              { property: 'last_name', required: false, status: 'denied' },
              {
                property: 'device_platform',
                required: false,
                status: 'approved',
                timestamp: time,
                valid_until: end,
              },
            ],
          },
        ],
      },
    },
    listReceipts: {
      text: `The evidence of what users released to you: a receipt for each release, for each end of a consent, and for each deletion that
you have confirmed, without the values. Receipts are kept when their request is no longer stored. When a user leaves the app, the
receipts stay without \`phone_number\`. \`POST /v1/user_data/fetch/{phone_number}\` and \`GET /v1/user/{user}\` return what needs no
approval, and are not listed. New receipts appear within seconds.`,
      examples: {
        shows: 'The receipts of a user',
        query: { phone_number: user, limit: '10' },
        answer: [
          {
            ...{ requestId: request, phone_number: user, event: 'withdrawn', timestamp: time },
            ...{ reason: 'To open your account', properties: ['first_name'] },
          },
          {
            ...{ requestId: request, phone_number: user, event: 'released', timestamp: time, valid_until: end },
            ...{ reason: 'To open your account', properties: ['first_name'] },
          },
        ],
      },
    },
    retrieveUserData: {
      text: `For properties that need no approval: the table of properties shows them as granted at once. A number that is not
registered counts against the daily allowance of phone numbers (\`POST /v1/contacts\`).`,
      names: { request: 'UserDataQuery' },
      id: 'request_id_or_phone_number',
      examples: {
        shows: 'Granted without asking',
        path: { id: user },
        body: { data: [{ property: 'device_platform' }, { property: 'app_version' }] },
        answer: {
          status: 'completed',
          results: {
            device_platform: { status: 'approved', value: 'android', source: 'device', timestamp: time },
            app_version: { status: 'unavailable' },
          },
        },
      },
    },
  },
  schemas: {
    UserData: userData,
    UserDataResult: result,
    ListedUserDataRequest: listedRequest,
    ConsentReceipt: consentReceipt,
  },
  names: {
    'NewUserDataRequest.data[]': 'RequestedProperty',
    'UserDataQuery.data[]': 'QueriedProperty',
    'UserDataResult:approved': 'GrantedResult',
    'UserDataResult:denied': 'ResultWithoutValue',
    'UserDataResult:withdrawn': 'EndedResult',
    'UserData.status': 'RequestStatus',
    'StartedUserDataRequest.status': 'RequestStatus',
    'ListedUserDataRequest.status': 'RequestStatus',
    'ListedUserDataRequest.data[]': 'ListedProperty',
    'ListedProperty.status': 'ResultStatus',
    'ConsentReceipt.event': 'ConsentEvent',
  },
  fields: {
    'NewUserDataRequest.reference':
      'Your own name for the request, of at most 64 characters. It comes back in webhooks and with the results.',
    'UserData.reference': 'The `reference` of the request, if it has one.',
    'GrantedResult.valid_until': `When the consent expires. ${TIME}`,
    'UserData.results': 'By property; empty while the request is pending.',
    'ListedUserDataRequest.requestId': 'The id of the request.',
    'ListedUserDataRequest.created': `When you made the request. ${TIME}`,
    'ListedUserDataRequest.completed': `When the last property was answered; missing while the request is pending. ${TIME}`,
    'ListedUserDataRequest.reference': 'The `reference` of the request, if it has one.',
    'ListedUserDataRequest.reason': 'Why you asked, as the user reads it.',
    'ListedUserDataRequest.valid_days':
      'For how many days after each release the consent is valid; missing if it has no end.',
    'ListedUserDataRequest.data': 'The properties in the order of the request.',
    'ListedProperty.reason': 'Why you asked for this property, if you gave a reason.',
    'ListedProperty.required': 'Whether you said that you require it.',
    'ListedProperty.status': 'What became of it; missing while the request is pending.',
    'ListedProperty.timestamp': `When the value was granted, or its consent ended. ${TIME}`,
    'ListedProperty.valid_until': `When the consent expires. ${TIME}`,
    'ConsentReceipt.requestId': 'The id of the request.',
    'ConsentReceipt.phone_number': 'The number of the user; missing if the user has left the app.',
    'ConsentReceipt.event':
      'What happened: values were released, their consent was withdrawn or has expired, or you have confirmed the deletion.',
    'ConsentReceipt.timestamp': `When it happened. ${TIME}`,
    'ConsentReceipt.valid_until': `When the consent expires, if a release has an end. ${TIME}`,
    'ConsentReceipt.reason': 'Why you asked, as the user read it.',
    'ConsentReceipt.properties': 'The properties that it concerns.',
    'listReceipts.limit': 'The maximum number of receipts.',
    'listReceipts.phone_number': 'Only receipts of the user with this number.',
    'listReceipts.start': 'Only what happened then or later: RFC 3339, also without a zone (UTC), or Unix seconds.',
    'listReceipts.end': 'Only what happened before then: RFC 3339, also without a zone (UTC), or Unix seconds.',
    'listUserDataRequests.limit': 'The maximum number of requests.',
    'listUserDataRequests.status': 'Only requests with this status.',
    'listUserDataRequests.start':
      'Only requests that were made then or later: RFC 3339, also without a zone (UTC), or Unix seconds.',
    'listUserDataRequests.end':
      'Only requests that were made before then: RFC 3339, also without a zone (UTC), or Unix seconds.',
    long_poll: 'Seconds to wait for the answer.',
    request_id: 'The `requestId` of the request.',
    'fetchUserData.request_id_or_phone_number': 'The `requestId` of the request.',
    'retrieveUserData.request_id_or_phone_number': "The user's phone number. Validation errors name it `id`.",
  },
  guarantees: {
    'EndedResult.timestamp': 'time',
    'GrantedResult.timestamp': 'time',
    'GrantedResult.valid_until': 'time',
    'ListedUserDataRequest.requestId': 'id',
    'ListedUserDataRequest.phone_number': 'phone',
    'ConsentReceipt.requestId': 'id',
    'ConsentReceipt.phone_number': 'phone',
    'ConsentReceipt.timestamp': 'time',
    'ConsentReceipt.valid_until': 'time',
    'StartedUserDataRequest.requestId': 'id',
  },
};
