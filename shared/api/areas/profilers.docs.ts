/** Texts, names and examples of profilers. */
import { answer } from '../../profilers/answer.ts';
import { listOf } from '../../validation/bounded.ts';
import { type AreaDocs, TIME } from '../docs.ts';
import { placeholders } from '../placeholders.ts';
import {
  audienceSize,
  judgement,
  listedAnswer,
  listedProfiler,
  option,
  profilerResults,
  type profilers,
  storedProfiler,
} from './profilers.ts';

const { user, userId, profiler, tea, coffee, otherUser, time } = placeholders;

const stored = {
  question: 'What do you drink in the morning?',
  created_at: time,
  options: [
    { id: tea, option: 'tea' },
    { id: coffee, option: 'coffee' },
  ],
};

export const profilersDocs: AreaDocs<typeof profilers> = {
  name: 'Research profilers',
  description: "Questions with options, and panelists' answers.",
  endpoints: {
    createProfiler: {
      text: `Options are lower-cased, and equal ones are merged. The response has the id of each option:
\`options[text.toLowerCase()]\`. Question and options take at most 350 KB together.`,
      names: { request: 'NewProfiler', 200: 'CreatedProfiler' },
      links: {
        readProfiler: ['/profiler_id', 'Read the profiler.'],
        readResults: ['/profiler_id', 'Count the answers.'],
        listAnswers: ['/profiler_id', 'List the answers.'],
        deleteProfiler: ['/profiler_id', 'Delete the profiler.'],
      },
      examples: {
        shows: 'A question with two options',
        headers: { 'idempotency-key': 'morning-drink' },
        body: { question: stored.question, options: ['Tea', 'Coffee'] },
        answer: { profiler_id: profiler, options: { tea, coffee } },
      },
    },
    listProfilers: {
      text: `Returns the whole list. Responses over 5 MB are paginated with a \`Link\` header. If many profilers were deleted in the last
week, a page may be short, or even empty, and still have a next page.`,
      examples: { shows: 'One profiler', answer: [{ id: profiler, ...stored }] },
    },
    readProfiler: {
      text: "Another account's profiler returns the same 404 as one that does not exist.",
      id: 'profiler_id',
      examples: { shows: 'A profiler', path: { id: profiler }, answer: stored },
    },
    answerProfiler: {
      text: `A panelist has one answer to a profiler, and the first one is final. Repeating it returns 204; another option
returns 409. The profiler must belong to your account, and the number to a registered panelist. A number that is not a
panelist's counts against the daily allowance of phone numbers (\`POST /v1/contacts\`).`,
      names: { request: 'Answer' },
      examples: {
        after: {
          shows: 'A user registers',
          body: [
            {
              id: 'event-1',
              type: 'user.updated',
              data: {
                phone_number: user,
                id: userId,
                panelist: true,
                properties: {
                  first_name: { value: 'Thandi', source: 'user' },
                  device_platform: { value: 'android', source: 'device' },
                },
              },
            },
          ],
        },
        shows: "A panelist's answer",
        body: { profiler_id: profiler, option_id: tea, phone_number: user },
      },
    },
    answerProfilers: {
      text: `The body is an array of answers. Each one is judged by itself, and \`results\` has their statuses in the same
order: 204 recorded, now or before; 409 the panelist chose another option before; 422 with the \`code\` of the problem. The
response is 200 in each case. Answers of one panelist to one profiler are recorded in the order of the array. Repeating the
request changes nothing; after a 503, send all again.

Numbers that are not panelists' count against the daily allowance of phone numbers (\`POST /v1/contacts\`). If less is left than
the request has different numbers, it returns 429 \`allowance_exceeded\`, and nothing is recorded.`,
      names: { 'request[]': 'Answer', 200: 'AnswerResults' },
      body: listOf(answer, { min: 1, max: 500, of: 'answers' }),
      examples: {
        shows: 'Two answers: a repeat, and one of a number that is not a panelist',
        body: [
          { profiler_id: profiler, option_id: tea, phone_number: user },
          { profiler_id: profiler, option_id: coffee, phone_number: otherUser },
        ],
        answer: {
          results: [
            { status: 204 },
            {
              status: 422,
              code: 'panelist_not_found',
              detail: 'phone_number does not belong to a registered panelist.',
            },
          ],
        },
      },
    },
    listAnswers: {
      text: 'Sorted by phone number. Answers of users who were removed from the app are erased.',
      id: 'profiler_id',
      examples: {
        shows: 'Who chose what',
        path: { id: profiler },
        answer: [{ phone_number: user, option_id: tea, option: 'tea', created: time }],
      },
    },
    exportProfiler: {
      text: `\`answers.csv\` has the columns \`phone_number\`, \`option_id\`, \`option\` and \`created\`, and is sorted by phone number;
\`results.csv\` has \`option_id\`, \`option\` and \`count\`. Times are in UTC, with \`Z\`. Longer files continue behind a \`Link\` header: append the
pages, of which only the first one has the names of the columns. A text that a spreadsheet would take for a formula begins with an apostrophe.`,
      id: 'profiler_id',
      fileTypes: ['text/csv'],
      examples: { shows: 'The answers', path: { id: profiler, file: 'answers.csv' } },
    },
    readResults: {
      text: `\`total\` is the number of answers, and \`count\` of those to each option. New answers are included after some two
seconds; answers of users who are removed from the app are excluded.`,
      id: 'profiler_id',
      examples: {
        shows: 'How many chose each option',
        path: { id: profiler },
        answer: {
          total: 1,
          options: [
            { id: tea, option: 'tea', count: 1 },
            { id: coffee, option: 'coffee', count: 0 },
          ],
        },
      },
    },
    countAudience: {
      text: `How many panelists chose one of \`option_ids\` in each profiler of \`all\`: at most five of your own profilers, each one
once. The count is rounded down to a multiple of ten. Fewer than ten are not counted: \`{"count": null, "fewer_than": 10}\`.
Answers of the last second may be missing, and those of users who were removed from the app are excluded. The profilers may
have 200,000 answers together, else the request returns 422 \`audience_too_large\`.

Each request counts against the daily allowance of your account: 100 audiences unless the operator has set another one.
Above it, the request returns 429 \`allowance_exceeded\`.`,
      names: { request: 'Audience' },
      examples: {
        shows: 'Fewer than ten panelists',
        body: { all: [{ profiler_id: profiler, option_ids: [tea] }] },
        answer: { count: null, fewer_than: 10 },
      },
    },
    deleteProfiler: {
      text: 'Its answers are removed shortly afterwards.',
      id: 'profiler_id',
      examples: { shows: 'It is gone', path: { id: profiler } },
    },
  },
  schemas: {
    Option: option,
    Profiler: storedProfiler,
    ListedProfiler: listedProfiler,
    ListedAnswer: listedAnswer,
    ProfilerResults: profilerResults,
    AnswerResult: judgement,
    AudienceSize: audienceSize,
  },
  names: {
    'AnswerResult.errors[]': 'AnswerError',
    'Audience.all[]': 'AudienceCondition',
    'ProfilerResults.options[]': 'OptionCount',
  },
  fields: {
    'exportProfiler.file_name': 'What is exported.',
    'OptionCount.count': 'The number of panelists who chose this option.',
    'ProfilerResults.total': 'The number of answers.',
    'AnswerResult.status': '204 recorded, 409 another answer is final, 422 rejected.',
    all: 'The conditions that a panelist must meet.',
    option_ids: 'The options of which the panelist chose one.',
    'AudienceSize.count':
      'The number of panelists, rounded down to a multiple of ten; null if there are fewer than ten.',
    'AudienceSize.fewer_than': 'Ten, if `count` is null.',
    'AnswerResult.code': 'The code of the problem; missing with 204.',
    created_at: TIME,
    'CreatedProfiler.options': 'The id of each option, by its text in lower case.',
    'NewProfiler.options': 'The texts: at least two that differ in more than case.',
    option: 'The text, in lower case.',
    question: 'The question for the panelist.',
    profiler_id: "The profiler's id.",
    option_id: "The option's id.",
  },
  guarantees: {
    'CreatedProfiler.profiler_id': 'id',
    'ListedAnswer.option_id': 'id',
    'ListedProfiler.id': 'id',
    'Option.id': 'id',
    'OptionCount.id': 'id',
  },
};
