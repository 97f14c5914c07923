/** Links from the response of an operation to operations that need a value of it. */
import type { EndpointName } from '../../shared/api/index.ts';

interface Link {
  to: EndpointName;
  /** The parameter of the other operation, as the description names it, and the value's place in the response. */
  parameter: string;
  value: `/${string}`;
  description: string;
}

const profiler = { parameter: 'profiler_id', value: '/profiler_id' } as const;
const job = {
  to: 'readJob',
  parameter: 'job_id',
  value: '/job_id',
  description: 'Read the job of the messages.',
} as const;

const links: Partial<Record<EndpointName, readonly Link[]>> = {
  createProfiler: [
    { ...profiler, to: 'readProfiler', description: 'Read the profiler.' },
    { ...profiler, to: 'readResults', description: 'Count the answers.' },
    { ...profiler, to: 'listAnswers', description: 'List the answers.' },
    { ...profiler, to: 'deleteProfiler', description: 'Delete the profiler.' },
  ],
  startUserDataRequest: [
    {
      to: 'fetchUserData',
      parameter: 'request_id_or_phone_number',
      value: '/requestId',
      description: 'Fetch what the user granted.',
    },
    {
      to: 'acknowledgeDeletion',
      parameter: 'request_id',
      value: '/requestId',
      description: 'Confirm that you have deleted values whose consent has ended.',
    },
  ],
  sendMessage: [
    {
      to: 'readMessage',
      parameter: 'message_id',
      value: '/id',
      description: 'Read the states of a message to one user.',
    },
    { ...job, description: 'Read the job of a message to many users.' },
  ],
  sendMessages: [job],
  receiveRapidproMessage: [
    { to: 'readMessage', parameter: 'message_id', value: '/id', description: 'Read the states of the message.' },
  ],
};

/** The links of an operation's success in the form of OpenAPI, by the ids of the other operations. */
export const linksFrom = (name: EndpointName): Record<string, object> | undefined => {
  const described = links[name]?.map(({ to, parameter, value, description }): [string, object] => [
    to,
    { operationId: to, parameters: { [parameter]: `$response.body#${value}` }, description },
  ]);
  return described && Object.fromEntries(described);
};
