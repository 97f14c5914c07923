/** Profilers and answers (spec §4.1 to §4.5). */
import * as v from 'valibot';
import { listOf, responseList, responseRecord, shownAs } from '../validation/bounded.ts';
import { idOfAnything, lowerCased, phoneNumber, visibleText } from '../validation/schemas.ts';

import { define, idempotencyKey } from './endpoint.ts';

/** An option is 36 characters of id and its text: more than this many never fit into one profiler. */
const MAX_OPTIONS = 10_000;

export const option = v.object({ id: v.string(), option: v.string() });

export const storedProfiler = v.object({ question: v.string(), created_at: v.string(), options: responseList(option) });

export const listedProfiler = v.object({ id: v.string(), ...storedProfiler.entries });

export const profilers = {
  createProfiler: define({
    area: 'profilers',
    summary: 'Create a profiler: a question with options.',
    routes: [{ host: 'base', method: 'POST', path: '/v1/research_profilers' }],
    token: 'header',
    permission: 'profilers',
    headers: idempotencyKey,
    body: {
      type: 'json',
      schema: v.object({
        question: visibleText,
        options: v.pipe(
          listOf(visibleText, { max: MAX_OPTIONS, of: 'options' }),
          shownAs(
            { minItems: 2 },
            v.check<string[], string>(
              (options) => lowerCased(options).length > 1,
              'must hold at least two options that differ in more than case',
            ),
          ),
        ),
      }),
    },
    responses: { 200: v.object({ profiler_id: v.string(), options: responseRecord(v.string(), v.string()) }) },
    problems: ['idempotency_key_reused', 'profiler_too_large'],
    table: ['putProfiler'],
  }),

  listProfilers: define({
    area: 'profilers',
    summary: 'List your profilers, oldest first.',
    routes: [{ host: 'base', method: 'GET', path: '/v1/research_profilers' }],
    token: 'header',
    permission: 'profilers',
    query: v.object({ cursor: v.optional(v.string()) }),
    responses: { 200: responseList(listedProfiler) },
    problems: [],
    table: ['listProfilers'],
  }),

  readProfiler: define({
    area: 'profilers',
    summary: 'Read one of your profilers.',
    routes: [{ host: 'base', method: 'GET', path: '/v1/research_profilers/{id}' }],
    token: 'header',
    permission: 'profilers',
    path: v.object({ id: idOfAnything }),
    responses: { 200: storedProfiler },
    problems: ['profiler_not_found'],
    table: ['findProfiler'],
  }),

  deleteProfiler: define({
    area: 'profilers',
    summary: 'Delete one of your profilers, with its answers.',
    routes: [{ host: 'base', method: 'DELETE', path: '/v1/research_profilers/{id}' }],
    token: 'header',
    permission: 'profilers',
    path: v.object({ id: idOfAnything }),
    responses: { 204: null },
    problems: ['profiler_not_found'],
    table: ['buryProfiler'],
  }),

  answerProfiler: define({
    area: 'profilers',
    summary: "Record a panelist's answer to one of your profilers.",
    routes: [{ host: 'base', method: 'POST', path: '/v1/profiler_answer' }],
    token: 'header',
    permission: 'profilers',
    body: {
      type: 'json',
      schema: v.object({
        profiler_id: v.pipe(visibleText, idOfAnything),
        option_id: v.pipe(visibleText, idOfAnything),
        phone_number: phoneNumber,
      }),
    },
    responses: { 204: null },
    problems: ['profiler_not_found', 'option_not_found', 'panelist_not_found', 'already_answered'],
    table: ['findProfiler', 'findUser', 'putAnswer'],
  }),
} as const;
