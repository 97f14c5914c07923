/** The examples of the delivery history. They need an account with a webhook that has rejected an event. */
import { type Example, example } from '../example.ts';

interface Values {
  /** The ids of the attempt and of its event. */
  delivery: string;
  event: string;
  /** An event that can be claimed, and its claim. */
  offered: string;
  claim: string;
  user: string;
  time: string;
}

export const deliveryExamples = ({ delivery, event, offered, claim, user, time }: Values): Example[] => {
  const attempt = {
    id: delivery,
    event_id: event,
    type: 'message',
    contact: `${user}@users.example.com`,
    message_id: '019a9f5e-2c16-7c5f-a7f8-091a2b3c4d5f',
    url: 'https://example.com/hook',
    attempt: 1,
    started: time,
    duration_ms: 85,
    status: 'failed',
    status_code: 404,
    response: '{"error":"There is no such path."}',
  } as const;
  return [
    example('listDeliveries', 'An event that the webhook rejected', {
      query: { status: 'failed', limit: '10' },
      answer: [attempt],
    }),
    example('readDelivery', 'The attempt', { path: { delivery_id: delivery }, answer: attempt }),
    example('replayDelivery', 'The event is sent again', {
      path: { delivery_id: delivery },
      answer: { event_id: event, status: 'queued' },
    }),
    example('recoverDeliveries', 'No other event has failed', {
      body: { since: '2026-11-20T09:00:00Z' },
      answer: { queued: 0, pending: 0 },
    }),
    example('claimDeliveries', 'A user has stopped the account', {
      query: { limit: '1', long_poll: '20' },
      answer: [
        {
          claim,
          claimed_until: time,
          event_id: offered,
          type: 'user',
          contact: `${user}@users.example.com`,
          attempt: 1,
          headers: {
            'content-type': 'application/json',
            'content-length': '70',
            'webhook-id': offered,
            'webhook-timestamp': '1795168689',
            'webhook-signature': 'v1,q2pT3XzV1xjQpl5FjRZ7Zc4wT2qSg0m8n5cKk1uYb3M=',
          },
          body: `{"user":{"contact":"${user}@users.example.com","state":"stopped"}}`,
        },
      ],
    }),
    example('settleDelivery', 'The program accepted it', {
      body: { claim, status_code: 204, duration_ms: 12 },
      answer: { status: 'delivered' },
    }),
  ];
};
