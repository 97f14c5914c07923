import { expect, test } from 'vitest';
import { partsOf, sentOf } from '../../../infra/portal/campaigns/parts.ts';

const none = { read: 0, delivered: 0, underway: 0, pending: 0, failed: 0, stopped: 0, left: 0 };

test('each person of a running campaign is in one part', () => {
  const states = {
    sent: 80,
    delivered_to_server: 70,
    delivered_to_user: 50,
    read: 20,
    sending_failed: 4,
    delivery_failed: 5,
  };
  const parts = partsOf({ states, recipients: 100, isStopped: false });
  expect(parts).toEqual({ read: 20, delivered: 30, underway: 15, pending: 6, failed: 9, stopped: 0, left: 20 });
  expect(sentOf(parts)).toBe(80);
});

test('of a stopped campaign, those who will not get it are one part', () => {
  const states = { sent: 90, delivered_to_server: 50, sending_failed: 40 };
  const known = partsOf({ states, recipients: 100, isStopped: true, cancelled: 37 });
  expect(known).toEqual({ ...none, underway: 50, failed: 3, stopped: 47 });
  expect(partsOf({ states, recipients: 100, isStopped: true })).toEqual({ ...none, underway: 50, stopped: 50 });
});

test('counts that are late make no part negative', () => {
  const parts = partsOf({ states: { sent: 1, delivered_to_server: 3, read: 5 }, recipients: 3, isStopped: false });
  expect(parts).toEqual({ ...none, read: 5 });
});
