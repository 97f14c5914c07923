/** The customer's own account: its token, its configuration, and the name and the avatar that users see. */
import * as v from 'valibot';
import { responseList } from '../../validation/bounded.ts';
import { displayName, messageText } from '../../validation/schemas.ts';
import { sendingHours } from '../../validation/sending-hours.ts';

import { define } from '../endpoint.ts';
import { uploaded } from './media.ts';

const count = v.pipe(v.number(), v.metadata({ type: 'integer' }));

const allowance = v.object({ limit: count, used: count, resets_at: v.string() });

/** Sending hours in a response. */
const storedHours = v.object({ between: responseList(v.string()), time_zone: v.string() });

const keywordActions = v.picklist(['tell', 'opt_out']);

/** What follows when a user writes an opt-out keyword. */
const optOutKeywords = v.object({ action: keywordActions, confirmation: v.optional(messageText) });

/** The same in a response. */
const storedKeywords = v.object({ action: keywordActions, confirmation: v.optional(v.string()) });

export const configuration = v.object({
  name: v.string(),
  pending_name: v.optional(v.string()),
  bot_number: v.nullable(v.string()),
  avatar: v.nullable(v.string()),
  sending_hours: v.optional(storedHours),
  opt_out_keywords: v.optional(storedKeywords),
  platform: v.nullable(
    v.object({
      name: v.string(),
      status: v.picklist(['working', 'failing', 'disabled']),
      failing_since: v.optional(v.string()),
      last_failure: v.optional(v.string()),
      cause: v.optional(v.string()),
      last_event: v.optional(v.string()),
      pending_messages: count,
      more_pending: v.boolean(),
    }),
  ),
  limits: v.object({
    requests_per_second: v.optional(count),
    requests_at_once: v.optional(count),
    long_polls: count,
  }),
  allowances: v.object({ contacts: allowance, audiences: allowance }),
});

const own = { area: 'account', token: 'header' } as const;

export const account = {
  readTokenInfo: define({
    ...own,
    summary: 'Read what the token of the request may do.',
    routes: [{ host: 'base', method: 'GET', path: '/v1/token/info' }],
    permission: 'any',
    responses: {
      200: v.object({
        label: v.string(),
        account: v.string(),
        permissions: responseList(v.string()),
        created: v.string(),
        expires: v.nullable(v.string()),
      }),
    },
    problems: [],
    table: ['findAccount'],
  }),

  readConfiguration: define({
    ...own,
    summary: 'Read the settings of your account, and how its chat platform works.',
    routes: [{ host: 'base', method: 'GET', path: '/v1/configuration' }],
    permission: 'account',
    responses: { 200: v.object({ configuration }) },
    problems: [],
    table: ['findAccount', 'findCircuit', 'listRetrying', 'listWaiting', 'listEntries', 'findAllowance'],
  }),

  updateAccount: define({
    ...own,
    summary: 'Change the name that users see, or settings of your account.',
    routes: [{ host: 'base', method: 'PUT', path: '/v1/update' }],
    permission: 'account',
    body: {
      type: 'json',
      schema: v.object({
        name: v.optional(displayName),
        sending_hours: v.optional(v.nullable(sendingHours)),
        opt_out_keywords: v.optional(v.nullable(optOutKeywords)),
      }),
    },
    responses: {
      200: v.object({
        name: v.string(),
        pending_name: v.optional(v.string()),
        sending_hours: v.optional(storedHours),
        opt_out_keywords: v.optional(storedKeywords),
      }),
    },
    problems: [],
    hashes: true,
    table: ['findAccount', 'renameAccount'],
  }),

  setAvatar: define({
    ...own,
    summary: 'Set the avatar that users see.',
    routes: [{ host: 'base', method: 'PUT', path: '/v1/avatar' }],
    permission: 'account',
    body: { type: 'multipart', schema: uploaded },
    responses: { 204: null },
    problems: ['file_too_large', 'file_type_not_supported'],
    hashes: true,
    table: ['findAccount', 'changeAvatar'],
    bucket: 'ReplaceObject',
  }),

  readAvatar: define({
    ...own,
    summary: 'Return the avatar.',
    routes: [{ host: 'base', method: 'GET', path: '/v1/avatar' }],
    permission: 'account',
    responses: { 200: v.instance(Uint8Array) },
    problems: ['avatar_not_set'],
    table: ['findAccount'],
    bucket: 'GetObject',
  }),
} as const;
