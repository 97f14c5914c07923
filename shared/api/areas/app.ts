/** Events of the app network. */
import * as v from 'valibot';
import { anyObject, listOf } from '../../validation/bounded.ts';

import { define } from '../endpoint.ts';

/** Most events of a request. */
const MAX_EVENTS = 100;
const eventList = listOf(v.unknown(), { max: MAX_EVENTS, of: 'events' });
const oneEvent = v.union([anyObject], 'must be an event, or an array of events');

export const app = {
  receiveAppEvents: define({
    area: 'app',
    summary: 'Receive events of the app network: one, or an array.',
    routes: [{ host: 'bridge', method: 'POST', path: '/v1/app/events' }],
    token: 'header',
    permission: 'app',
    body: {
      type: 'json',
      // Events are validated one by one, so that an invalid one does not block events of other users.
      schema: v.lazy((input) => (Array.isArray(input) ? eventList : oneEvent)),
    },
    ignoresUnknown: true,
    responses: { 204: null },
    problems: ['events_refused'],
    // A request may have 100 events of one user, which are applied one after another.
    timeout: 29,
    hashes: true,
    wakes: true,
    table: [
      'findBot',
      'noteWritten',
      'findAccount',
      'findMessages',
      'putEventReceipt',
      'findEventReceipt',
      'findRemoval',
      'findUser',
      'findAppUser',
      'changeUser',
      'forgetUser',
      'findOptOut',
      'recordOptOut',
      'findRequests',
      'findRequest',
      'recordAnswers',
      'findConsents',
      'withdrawConsent',
      'putLogEntry',
      'logAndEnqueue',
    ],
  }),
} as const;
