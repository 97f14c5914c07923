/** Profilers and answers. */
import * as v from 'valibot';
import { answer } from '../../profilers/answer.ts';
import { listOf, responseList, responseRecord, shownAs } from '../../validation/bounded.ts';
import { idOfAnything, lowerCased, phoneNumber, visibleText, wholeNumber } from '../../validation/schemas.ts';

import { define, idempotencyKey } from '../endpoint.ts';

/** Most options of a profiler. More would exceed its stored size: each option has an id of 36 characters. */
const MAX_OPTIONS = 10_000;

export const option = v.object({ id: v.string(), option: v.string() });

export const storedProfiler = v.object({ question: v.string(), created_at: v.string(), options: responseList(option) });

export const listedProfiler = v.object({ id: v.string(), ...storedProfiler.entries });

export const listedAnswer = v.object({
  phone_number: v.string(),
  option_id: v.string(),
  option: v.string(),
  created: v.string(),
});

const wholeCount = v.pipe(v.number(), v.metadata({ type: 'integer' }));

export const profilerResults = v.object({
  total: wholeCount,
  options: responseList(v.object({ ...option.entries, count: wholeCount })),
});

/** Most conditions of an audience. */
const MAX_CONDITIONS = 5;

const condition = v.object({
  profiler_id: v.pipe(visibleText, idOfAnything),
  option_ids: listOf(v.pipe(visibleText, idOfAnything), { min: 1, max: MAX_OPTIONS, of: 'options' }),
});

export const audienceSize = v.object({ count: v.nullable(wholeCount), fewer_than: v.optional(wholeCount) });

/** Most answers of a request. */
const MAX_ANSWERS = 500;

/** What became of an answer of a request with several. */
export const judgement = v.object({
  status: v.picklist([204, 409, 422]),
  code: v.optional(v.string()),
  detail: v.optional(v.string()),
  errors: v.optional(responseList(v.object({ pointer: v.string(), detail: v.string() }))),
});

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
    // The id of the last profiler.
    position: v.pipe(v.string(), v.regex(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)),
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
    table: ['deleteProfiler'],
  }),

  answerProfiler: define({
    area: 'profilers',
    summary: "Record a panelist's answer to one of your profilers.",
    routes: [{ host: 'base', method: 'POST', path: '/v1/profiler_answer' }],
    token: 'header',
    permission: 'profilers',
    body: {
      type: 'json',
      schema: answer,
    },
    responses: { 204: null },
    problems: [
      'profiler_not_found',
      'option_not_found',
      'panelist_not_found',
      'already_answered',
      'allowance_exceeded',
    ],
    table: ['findProfiler', 'findAllowance', 'findUser', 'chargeAllowance', 'putAnswer'],
  }),

  answerProfilers: define({
    area: 'profilers',
    summary: "Record up to 500 panelists' answers to your profilers.",
    routes: [{ host: 'base', method: 'POST', path: '/v1/profiler_answers' }],
    token: 'header',
    permission: 'profilers',
    // Answers are validated one by one.
    body: { type: 'json', schema: listOf(v.unknown(), { min: 1, max: MAX_ANSWERS, of: 'answers' }) },
    responses: { 200: v.object({ results: responseList(judgement) }) },
    problems: ['allowance_exceeded'],
    table: ['findProfiler', 'findAllowance', 'findUsers', 'chargeAllowance', 'putAnswer'],
  }),

  countAudience: define({
    area: 'profilers',
    summary: 'Count the panelists who gave certain answers.',
    routes: [{ host: 'base', method: 'POST', path: '/v1/audience' }],
    token: 'header',
    permission: 'profilers',
    body: {
      type: 'json',
      schema: v.object({
        all: v.pipe(
          listOf(condition, {
            min: 1,
            tooFew: 'must hold at least one condition',
            max: MAX_CONDITIONS,
            of: 'conditions',
          }),
          v.check(
            (conditions) => new Set(conditions.map(({ profiler_id }) => profiler_id)).size === conditions.length,
            'must name each profiler once',
          ),
        ),
      }),
    },
    responses: { 200: audienceSize },
    problems: ['profiler_not_found', 'audience_too_large', 'allowance_exceeded'],
    // API Gateway's limit is 30.
    timeout: 29,
    table: ['findProfiler', 'chargeAllowance', 'listResults', 'listAnswers'],
  }),

  listAnswers: define({
    area: 'profilers',
    summary: 'List the answers to one of your profilers, by phone number.',
    routes: [{ host: 'base', method: 'GET', path: '/v1/research_profilers/{id}/answers' }],
    token: 'header',
    permission: 'profilers',
    path: v.object({ id: idOfAnything }),
    query: v.object({ limit: v.optional(wholeNumber(1, 1_000), '100'), cursor: v.optional(v.string()) }),
    // The number of the last answer.
    position: phoneNumber,
    responses: { 200: responseList(listedAnswer) },
    problems: ['profiler_not_found'],
    table: ['findProfiler', 'listAnswers'],
  }),
  exportProfiler: define({
    area: 'profilers',
    summary: 'Export the answers to one of your profilers, or their counts.',
    routes: [{ host: 'base', method: 'GET', path: '/v1/research_profilers/{id}/{file}' }],
    token: 'header',
    permission: 'profilers',
    path: v.object({ id: idOfAnything, file: v.picklist(['answers.csv', 'results.csv']) }),
    query: v.object({ cursor: v.optional(v.string()) }),
    position: phoneNumber,
    responses: { 200: v.instance(Uint8Array) },
    problems: ['profiler_not_found'],
    table: ['findProfiler', 'listAnswers', 'listResults'],
  }),

  readResults: define({
    area: 'profilers',
    summary: 'Count the answers to one of your profilers.',
    routes: [{ host: 'base', method: 'GET', path: '/v1/research_profilers/{id}/results' }],
    token: 'header',
    permission: 'profilers',
    path: v.object({ id: idOfAnything }),
    responses: { 200: profilerResults },
    problems: ['profiler_not_found'],
    table: ['findProfiler', 'listResults'],
  }),
} as const;
