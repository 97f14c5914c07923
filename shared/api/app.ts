/** Events of the app network. */
import * as v from 'valibot';
import { anyObject, listOf } from '../validation/bounded.ts';

import { define } from './endpoint.ts';

/** Events of the app network in one request. */
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
      // Events are checked one by one: a bad one does not hold up the others.
      schema: v.lazy((input) => (Array.isArray(input) ? eventList : oneEvent)),
    },
    responses: { 204: null },
    problems: ['events_refused'],
    // A hundred events of one user are applied one after the other.
    timeout: 29,
    table: [
      'findBot',
      'findAccount',
      'findMessages',
      'putEventReceipt',
      'findEventReceipt',
      'findRemoval',
      'findUser',
      'changeUser',
      'forgetUser',
      'findRequests',
      'findRequest',
      'recordAnswers',
      'putLogEntry',
      'logAndEnqueue',
    ],
  }),
} as const;
