/** Hosts, tokens, profilers, and media. */
import { setTimeout as pause } from 'node:timers/promises';
import { apiDescriptionBody } from '../../../../shared/api/areas/description.ts';
import { api } from '../../../../shared/api/index.ts';
import { now } from '../../../../shared/core/clock.ts';
import { type Day, type Step, untilFound } from '../day.ts';
import { bodyOf, check, expectStatus, StepFailure } from '../http.ts';
import { ACCOUNT_NAME, API_PERMISSIONS, eventIdOf, TOKEN_LABEL } from '../run.ts';

/** Milliseconds in which the first request to a new host may fail. */
const NEW_HOST = 30_000;

/** One transparent pixel. */
const PNG = Uint8Array.from(
  Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
    'base64',
  ),
);

/** What the app network reports of the user. */
const FIRST_NAME = 'Smoke';

/** The result of a property that the user granted. */
export const isGranted = (result: { status: string; value?: string } | undefined): boolean =>
  result?.status === 'approved' && result.value === FIRST_NAME;

const untilItResponds = async ({ hosts, signal }: Day) => {
  for (const end = now() + NEW_HOST; ; ) {
    try {
      return bodyOf(await hosts.base({ path: '/v1/openapi.json' }), apiDescriptionBody);
    } catch (error) {
      if (!(error instanceof StepFailure) || now() >= end) throw error;
      await pause(1_000, undefined, { signal });
    }
  }
};

/** Checks the answers and the results of a profiler that only the user has answered, with this option. */
const expectOneAnswer = async (day: Day, profiler: string, chosen: string | undefined): Promise<void> => {
  const { hosts, run, tokens } = day;
  const read = (what: 'answers' | 'results') =>
    hosts.base({ path: `${profiler}/${what}`, shown: `/v1/research_profilers/{id}/${what}`, token: tokens.api });
  await untilFound(
    day,
    async () => {
      const answers = bodyOf(await read('answers'), api.listAnswers.responses[200]);
      return answers.some((one) => one.phone_number === run.user && one.option_id === chosen) || undefined;
    },
    () => "the user's answer is not in the list of answers",
  );
  let total = 0;
  await untilFound(
    day,
    async () => {
      ({ total } = bodyOf(await read('results'), api.readResults.responses[200]));
      return total === 1 || undefined;
    },
    () => `the results have ${total} answers, not 1: the worker count adds them`,
  );
};

export const basics = {
  description: {
    title: 'The API host serves its description',
    run: async (day) => {
      const { openapi } = await untilItResponds(day);
      return `OpenAPI ${openapi}`;
    },
  },

  authorizer: {
    title: 'Requests without a valid token are rejected',
    needs: ['description'],
    run: async ({ hosts }) => {
      const path = '/v1/stats/jobs';
      expectStatus(await hosts.base({ path }), 401);
      expectStatus(await hosts.base({ path, token: 'unknown' }), 403);
      expectStatus(await hosts.bridge({ method: 'POST', path: '/v1/app/events', body: [] }), 401);
      const missing = await hosts.bridge({ path: `/media/${'0'.repeat(32)}` });
      expectStatus(missing, 404, 'media_not_found');
      return undefined;
    },
  },

  ownAccount: {
    title: 'A customer reads its token and its configuration',
    needs: ['description'],
    run: async ({ hosts, run, tokens: { api: token } }) => {
      const info = bodyOf(await hosts.base({ path: '/v1/token/info', token }), api.readTokenInfo.responses[200]);
      check(info.label === TOKEN_LABEL && info.account === run.account, 'the token is described as another one');
      check(
        info.permissions.toSorted().join() === API_PERMISSIONS.toSorted().join(),
        'the token is described with other permissions',
      );
      const shown = await hosts.base({ path: '/v1/configuration', token });
      const { configuration } = bodyOf(shown, api.readConfiguration.responses[200]);
      const { name, bot_number, allowances } = configuration;
      check(name === ACCOUNT_NAME && bot_number === run.bot, 'the configuration is of another account');
      return `${allowances.contacts.limit} contacts and ${allowances.audiences.limit} audiences a day`;
    },
  },

  user: {
    title: 'The app network registers a user',
    needs: ['description'],
    run: async ({ hosts, run, tokens }) => {
      const data = {
        phone_number: run.user,
        panelist: true,
        properties: {
          first_name: { value: FIRST_NAME, source: 'user' },
          device_platform: { value: 'android', source: 'device' },
        },
      };
      const event = { id: eventIdOf(run, 'registered'), type: 'user.updated', data };
      expectStatus(await hosts.bridge({ method: 'POST', path: '/v1/app/events', token: tokens.app, body: event }), 204);
      return undefined;
    },
  },

  contacts: {
    title: 'The user is found among contacts',
    needs: ['user'],
    run: async (day) => {
      const { hosts, run, tokens } = day;
      const body = { contacts: [run.user, run.bot] };
      await untilFound(
        day,
        async () => {
          const matched = await hosts.base({ method: 'POST', path: '/v1/contacts', token: tokens.api, body });
          const { match_list } = bodyOf(matched, api.matchContacts.responses[200]);
          check(!match_list.includes(run.bot), 'a number without a user is among the users');
          return match_list.includes(run.user) || undefined;
        },
        () => 'the user is not among the contacts',
      );
      return undefined;
    },
  },

  profiler: {
    title: 'A profiler is created, answered once, counted, and deleted',
    needs: ['user'],
    run: async (day) => {
      const { hosts, run, tokens } = day;
      const token = tokens.api;
      const path = '/v1/research_profilers';
      const draft = { question: 'Is this a test?', options: ['Yes', 'No'] };
      const created = await hosts.base({ method: 'POST', path, token, body: draft });
      const { profiler_id, options } = bodyOf(created, api.createProfiler.responses[200]);
      const listed = bodyOf(await hosts.base({ path, token }), api.listProfilers.responses[200]);
      check(
        listed.some(({ id }) => id === profiler_id),
        'the new profiler is not in the list',
      );
      const answer = (option: string) =>
        hosts.base({
          method: 'POST',
          path: '/v1/profiler_answer',
          token,
          body: { profiler_id, option_id: options[option], phone_number: run.user },
        });
      expectStatus(await answer('yes'), 204);
      expectStatus(await answer('yes'), 204);
      expectStatus(await answer('no'), 409, 'already_answered');
      await expectOneAnswer(day, `${path}/${profiler_id}`, options.yes);
      expectStatus(await hosts.base({ method: 'DELETE', path: `${path}/${profiler_id}`, token }), 204);
      expectStatus(await hosts.base({ path: `${path}/${profiler_id}`, token }), 404, 'profiler_not_found');
      return 'a second answer returned 409, and the results have one';
    },
  },

  media: {
    title: 'An image is uploaded and downloaded',
    needs: ['description'],
    run: async ({ hosts, tokens: { api: token }, found }) => {
      const body = new FormData();
      body.append('file', new File([PNG], 'smoke-test.png', { type: 'image/png' }));
      const uploaded = await hosts.base({ method: 'POST', path: '/v1/upload_image', token, body });
      const { url } = bodyOf(uploaded, api.uploadImage.responses[200]);
      const { pathname } = new URL(url);
      const request = { path: pathname, shown: '/media/{id}' };
      const read = expectStatus(await hosts.bridge(request), 200);
      check(Buffer.from(read.bytes).equals(PNG), 'the downloaded bytes are not those of the upload');
      check(read.headers.get('content-type') === 'image/png', 'the download has another type than image/png');
      expectStatus(await hosts.bridge({ ...request, method: 'HEAD' }), 200);
      found.mediaUrl = url;
      return `${PNG.length} bytes`;
    },
  },
} satisfies Record<string, Step>;
