/**
 * The list of all endpoints. Routes, validation, the functions' rights, the API description and tests are derived from
 * it. `functions/things/do-thing.ts` serves the endpoint `doThing` of the area `things`.
 */
import * as v from 'valibot';
import { responseObject } from '../validation/bounded.ts';
import { account, configuration } from './areas/account.ts';
import { app } from './areas/app.ts';
import { bridge } from './areas/bridge.ts';
import { claimedEvent, deliveries, delivery } from './areas/deliveries.ts';
import { media } from './areas/media.ts';
import { messageStatus, messages } from './areas/messages.ts';
import {
  audienceSize,
  judgement,
  listedAnswer,
  listedProfiler,
  option,
  profilerResults,
  profilers,
  storedProfiler,
} from './areas/profilers.ts';
import { jobCount, jobStatus, jobs, logEntry, stats } from './areas/stats.ts';
import { result, userData, userDataRequests } from './areas/user-data.ts';
import { userProfile, users } from './areas/users.ts';
import { define, type Endpoint } from './endpoint.ts';

/** The schemas that have names in the API description. */
export const documents = {
  Option: option,
  Profiler: storedProfiler,
  ListedProfiler: listedProfiler,
  ListedAnswer: listedAnswer,
  ProfilerResults: profilerResults,
  AnswerResult: judgement,
  AudienceSize: audienceSize,
  UserData: userData,
  UserDataResult: result,
  UserProfile: userProfile,
  AccountConfiguration: configuration,
  MessageStatus: messageStatus,
  LogEntry: logEntry,
  Delivery: delivery,
  ClaimedEvent: claimedEvent,
  JobCount: jobCount,
  JobStatus: jobStatus,
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
  ...jobs,
  ...media,
  ...bridge,
  ...deliveries,
  ...app,
  ...userDataRequests,
  ...users,
  ...account,
  ...stats,
} as const satisfies Record<string, Endpoint>;

export type Api = typeof api;
export type EndpointName = keyof Api;
