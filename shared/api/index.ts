/**
 * The API, endpoint by endpoint: the one list that routes, validation, the functions' rights, the API description and
 * the tests come from. An endpoint `doThing` of area `things` is served by `functions/things/do-thing.ts`.
 */
import * as v from 'valibot';
import { responseObject } from '../validation/bounded.ts';
import { app } from './app.ts';
import { bridge } from './bridge.ts';
import { define, type Endpoint } from './endpoint.ts';
import { media } from './media.ts';
import { messages } from './messages.ts';
import { listedProfiler, option, profilers, storedProfiler } from './profilers.ts';
import { jobCount, logEntry, stats } from './stats.ts';
import { result, userData, userDataRequests } from './user-data.ts';

/** The documents that have a name of their own in the API description. */
export const documents = {
  Option: option,
  Profiler: storedProfiler,
  ListedProfiler: listedProfiler,
  UserData: userData,
  UserDataResult: result,
  LogEntry: logEntry,
  JobCount: jobCount,
};

export const api = {
  readApiDescription: define({
    area: 'description',
    summary: 'Read this description.',
    routes: [{ host: 'base', method: 'GET', path: '/v1/openapi.json' }],
    token: 'none',
    permission: 'none',
    responses: { 200: responseObject({ openapi: v.string() }) },
    problems: [],
    table: [],
  }),
  ...profilers,
  ...messages,
  ...media,
  ...bridge,
  ...app,
  ...userDataRequests,
  ...stats,
} as const satisfies Record<string, Endpoint>;

export type Api = typeof api;
export type EndpointName = keyof Api;
