/** The simulator's requests that report events of the app, by the data of the event. */
import * as v from 'valibot';

interface Report {
  method: string;
  /** Below the simulator's URL. */
  path: string;
  body?: object;
}

type Data = Record<string, unknown>;

const reports: Record<string, (data: Data) => Report> = {
  'message.received': ({ from, to, text }) => ({
    method: 'POST',
    path: `/phones/${from}/messages`,
    body: { to, text: Object(text).body },
  }),
  'message.state': ({ id, ...state }) => ({ method: 'POST', path: `/messages/${id}/states`, body: state }),
  'user.updated': ({ phone_number, ...user }) => ({ method: 'POST', path: `/phones/${phone_number}/user`, body: user }),
  'user.removed': ({ phone_number }) => ({ method: 'DELETE', path: `/phones/${phone_number}/user` }),
  'user.stopped': ({ from, to }) => ({ method: 'PUT', path: `/phones/${from}/stops/${to}` }),
  'user.started': ({ from, to }) => ({ method: 'DELETE', path: `/phones/${from}/stops/${to}` }),
  'user_data.answered': ({ id, answers }) => ({ method: 'POST', path: `/requests/${id}/answers`, body: { answers } }),
  'user_data.withdrawn': ({ id, properties }) => ({
    method: 'POST',
    path: `/requests/${id}/withdrawals`,
    body: { properties },
  }),
};

/** The request that reports an event of this type; undefined if the app has no such event. The event gets a new id. */
export const reportOf = (type: string, data: Data): Report | undefined => reports[type]?.(data);

/** Whether an event of this type can be reported. */
export const isReportable = (type: string): boolean => type in reports;

/** The service's response. */
export interface Reply {
  status: number;
  body?: string;
}

const problem = v.object({
  detail: v.string(),
  errors: v.optional(v.array(v.object({ pointer: v.optional(v.string()), detail: v.string() })), []),
});

/** Most validation errors that a reason contains. */
const MOST_ERRORS = 3;

/** The reason in an error response, as a sentence. */
export const reasonIn = ({ status, body = '' }: Reply): string => {
  const { success, output } = v.safeParse(v.pipe(v.string(), v.parseJson(), problem), body);
  if (!success) return `The service returned ${status}.`;
  const errors = output.errors.map(({ pointer = '', detail }) => `${pointer} ${detail}`.trim());
  return [output.detail, ...errors.slice(0, MOST_ERRORS)].join(' ');
};
