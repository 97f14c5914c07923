/** The tokens of an account, as its business manages them, and the history of its account. */
import * as v from 'valibot';
import { changes } from '../../accounts/changes.ts';
import { permissions } from '../../core/permissions.ts';
import { listOf, responseList } from '../../validation/bounded.ts';
import { pointInTimeOrSeconds } from '../../validation/point-in-time.ts';
import { atMost, idOfAnything, visibleText, wholeNumber, wholeValue } from '../../validation/schemas.ts';
import { define } from '../endpoint.ts';

/** Hours of seven days. */
const MOST_OVERLAP = 168;

const given = permissions.filter((permission) => permission !== 'app');

const record = {
  id: v.string(),
  label: v.string(),
  permissions: responseList(v.string()),
  last_four: v.string(),
  created: v.string(),
  expires: v.nullable(v.string()),
  revoked: v.optional(v.string()),
};

export const tokenRecord = v.object(record);

export const issuedToken = v.object({ ...record, token: v.string() });

export const change = v.object({
  created: v.string(),
  type: v.picklist(changes),
  id: v.optional(v.string()),
  fields: v.optional(responseList(v.string())),
  token_id: v.string(),
  token_label: v.string(),
});

const path = v.object({ token_id: idOfAnything });

const own = { area: 'tokens', token: 'header', permission: 'admin' } as const;

export const tokens = {
  createToken: define({
    ...own,
    summary: 'Create a token of your account.',
    routes: [{ host: 'base', method: 'POST', path: '/v1/tokens' }],
    body: {
      type: 'json',
      schema: v.object({
        label: v.pipe(visibleText, atMost(100)),
        permissions: v.pipe(
          listOf(v.picklist(given), { min: 1, max: given.length, of: 'permissions' }),
          v.transform((list) => [...new Set(list)]),
        ),
        expires: v.optional(pointInTimeOrSeconds),
      }),
    },
    responses: { 200: issuedToken },
    problems: [],
    table: ['createToken'],
  }),

  listTokens: define({
    ...own,
    summary: 'List the tokens of your account.',
    routes: [{ host: 'base', method: 'GET', path: '/v1/tokens' }],
    responses: { 200: responseList(tokenRecord) },
    problems: [],
    table: ['listTokens'],
  }),

  rotateToken: define({
    ...own,
    summary: 'Replace a token by another one with the same permissions.',
    routes: [{ host: 'base', method: 'POST', path: '/v1/tokens/{token_id}/rotate' }],
    path,
    body: { type: 'json', schema: v.object({ overlap_hours: v.optional(wholeValue(0, MOST_OVERLAP), 24) }) },
    responses: { 200: issuedToken },
    problems: ['token_not_found'],
    table: ['findTokenRecord', 'rotateToken'],
  }),

  revokeToken: define({
    ...own,
    summary: 'Revoke a token.',
    routes: [{ host: 'base', method: 'DELETE', path: '/v1/tokens/{token_id}' }],
    path,
    responses: { 204: null },
    problems: ['token_not_found'],
    table: ['findTokenRecord', 'revokeToken'],
  }),

  listHistory: define({
    ...own,
    summary: 'List what was changed of your account, and with which token.',
    routes: [{ host: 'base', method: 'GET', path: '/v1/history' }],
    query: v.object({ limit: v.optional(wholeNumber(1, 500), '100'), cursor: v.optional(v.string()) }),
    position: v.pipe(v.string(), v.uuid()),
    responses: { 200: responseList(change), 204: null },
    problems: [],
    table: ['listChanges'],
  }),
} as const;
